"""The command's first lines, before anything that takes time.

Until the command is ready to answer Ctrl-C it dies of it, silently: there is nothing to save yet, and the
alternative is a traceback from the middle of an import.
"""

import _signal  # what `signal` wraps; present from the start

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def entry() -> None:
    """The console script."""
    from thalweg.cli import entry as run

    run()
