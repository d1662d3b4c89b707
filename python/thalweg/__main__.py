"""`python -m thalweg`."""

from thalweg._entry import entry

entry()
