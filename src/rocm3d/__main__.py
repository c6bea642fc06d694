"""`python -m rocm3d`, the same as `rocm3d`."""

from rocm3d.cli.main import main

if __name__ == "__main__":
    main()
