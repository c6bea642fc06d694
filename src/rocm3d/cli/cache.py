"""What rocm3d keeps outside your repository: where it is, and how to be rid of it."""

from __future__ import annotations

from rocm3d.cli.session import Session
from rocm3d.workspace.state import cache_path, clear_cache

POSITION = 100
EXAMPLE = "Example: rocm3d cache clear"


def path(session: Session) -> None:
    """Print the cache folder; ROCM3D_CACHE names another one."""
    session.put(f"{cache_path()}\n", None)


def clear(session: Session) -> None:
    """Remove the cache folder. Nothing in it is needed; a folder that is not ours is left alone."""
    session.say(f"{clear_cache()} bytes freed in {cache_path()}")


COMMANDS = (path, clear)
