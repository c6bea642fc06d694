"""The start of `rocm3d` and of `python -m rocm3d`: loads the command line; Ctrl-C meanwhile ends it with one line."""

import _signal  # type: ignore[import-not-found]  # the module `signal` would have to be loaded first
import os
import sys


def main() -> None:
    """Run the `rocm3d` command."""
    # As under nohup, a signal that is ignored stays ignored.
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _exit)
    from rocm3d.cli.main import main as run  # noqa: PLC0415  (after the signal handler)

    run()


def _exit(_number: int, _frame: object) -> None:
    """As workspace.interrupts, which is not loaded yet."""
    try:
        os.write(2, b"rocm3d: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    # -m puts the working folder first, and a repository could have a module named like one of our dependencies.
    if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109  (pathlib is not loaded yet)
        del sys.path[0]

    main()
