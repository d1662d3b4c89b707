"""`python -m thalweg`."""

from thalweg._entry import entry

# Processes of pools import this file, too.
if __name__ == "__main__":
    entry()
