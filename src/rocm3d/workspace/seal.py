"""Tells files that this user's rocm3d wrote from files that came with a repository.

A seal is an HMAC with a key in the user's data folder, which no repository can have. It does not depend on the path, so
a tree may be moved or renamed.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import data_path

_KEY_FILE, _KEY_BYTES = "key", 32


class NoKeyError(UserError):
    """This user has no key and none can be created."""


def seal_of(purpose: str, content: bytes) -> str:
    """The seal of a file, in hexadecimal. `purpose` says what the file is, so that no file can pass as another."""
    message = hashlib.sha256(purpose.encode()).digest() + content
    return hmac.new(_key(), message, hashlib.sha256).hexdigest()


def is_sealed(purpose: str, content: bytes, seal: str) -> bool:
    """Whether this user's rocm3d wrote this content for this purpose. Without a key nothing is."""
    if not _key_path().exists():
        return False
    return hmac.compare_digest(seal_of(purpose, content).encode(), seal.encode("utf-8", "replace"))


def _key_path() -> Path:
    return data_path() / _KEY_FILE


def _key() -> bytes:
    """The key of this user, created on first use."""
    path = _key_path()
    try:
        if not path.exists():
            _create_key(path)
        return _read_key(path)
    except OSError as error:
        hint = "set ROCM3D_DATA to a folder that you can write"
        raise NoKeyError(f"cannot use the key {path}: {error.strerror}", hint=hint) from error


def _create_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix="key-")  # with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        # A link appears whole or not at all, and never replaces the key of a process that was faster.
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        Path(temporary).unlink()


def _read_key(path: Path) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size != _KEY_BYTES:
        hint = "remove it; what rocm3d wrote so far is then treated as foreign"
        raise UserError(f"{path} is not a key of rocm3d", hint=hint)
    if status.st_mode & 0o077:
        path.chmod(0o600)
    return path.read_bytes()
