"""Shell scripts (*.sh): install commands, clones and all other commands, read by script.py."""

from __future__ import annotations

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, has_suffix
from rocm3d.manifest.script import manifest_from_commands


def read(path: str, data: bytes) -> ParsedManifest:
    """Read all branches: which one runs depends on the machine."""
    return manifest_from_commands(path, reader.kind, data, shell_commands(data.decode("utf-8", "replace")))


reader = ManifestReader(__name__, has_suffix(".sh", ".bash", ".zsh"), read)
