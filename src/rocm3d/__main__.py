"""`python -m rocm3d`, the same as `rocm3d`."""

import os
import sys

if __name__ == "__main__":
    # -m puts the working folder first, and a repository could have a module named like one of our dependencies.
    if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109  (pathlib is not loaded yet)
        del sys.path[0]

    from rocm3d.cli.main import main

    main()
