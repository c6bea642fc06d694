"""The cache folder of rocm3d: show its path, or clear it."""

from __future__ import annotations

from rocm3d.cli.session import CliSession
from rocm3d.workspace.state import cache_path, clear_cache

POSITION = 100
EXAMPLE = "Example: rocm3d cache clear"


def path(session: CliSession) -> None:
    """Print the path of the cache folder. Set ROCM3D_CACHE to use another one."""
    session.write_output(f"{cache_path()}\n", None)


def clear(session: CliSession) -> None:
    """Remove the cache folder. It only speeds up later runs. A folder that rocm3d did not create is never removed."""
    session.print_status(f"{clear_cache()} bytes freed in {cache_path()}")


COMMANDS = (path, clear)
