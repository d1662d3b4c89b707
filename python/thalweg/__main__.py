"""`python -m thalweg`."""

from thalweg.cli import entry

entry()
