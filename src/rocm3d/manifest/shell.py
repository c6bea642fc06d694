"""Shell scripts (*.sh): install commands, clones and all other commands, read by script.py."""

from __future__ import annotations

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import Manifest, Reader, pure
from rocm3d.manifest.script import manifest_of


def is_script(path: str) -> bool:
    return pure(path).suffix in (".sh", ".bash", ".zsh")


def read(path: str, data: bytes) -> Manifest:
    """Read all branches: which one runs depends on the machine."""
    return manifest_of(path, reader.kind, data, shell_commands(data.decode("utf-8", "replace")))


reader = Reader(__name__, is_script, read)
