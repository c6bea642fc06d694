"""Restricts paths to the roots of the client and to the folders of --root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOCAL = ("", "localhost")
_MAX_PATH = 4096


@dataclass(frozen=True)
class AllowedRoots:
    """`allowed` lists the folders of --root, `given` the roots of the client. A path must satisfy both."""

    allowed: tuple[Path, ...] = ()
    client_roots: tuple[Path, ...] = ()

    @classmethod
    def resolve(cls, allowed: Iterable[Path], uris: Iterable[str]) -> AllowedRoots:
        """Resolve symbolic links; URIs that are not local folders are omitted."""
        return cls(tuple(path.resolve() for path in allowed), tuple(filter(None, map(_folder_of_uri, uris))))

    def check_path(self, requested: str) -> Path:
        """The resolved path. UserError if it is not allowed; the message reveals nothing about other folders."""
        if not self.allowed and not self.client_roots:
            raise UserError(
                "this client provides no roots, and the server was started without --root",
                hint="start it with `rocm3d mcp --root DIR`",
            )
        if not requested or len(requested) > _MAX_PATH or "\0" in requested:
            raise UserError("the path is empty, too long, or contains a null byte")
        path = self._resolve_path(requested)
        for limit in filter(None, (self.allowed, self.client_roots)):
            if not any(path == root or root in path.parents for root in limit):
                raise UserError(f"{requested} is outside the allowed folders: {self._listed()}")
        return path

    def _resolve_path(self, requested: str) -> Path:
        path = Path(requested)
        if not path.is_absolute():
            roots = self.client_roots or self.allowed
            if len(roots) > 1:
                raise UserError(
                    f"{requested} is ambiguous; allowed folders: {self._listed()}", hint="pass an absolute path"
                )
            path = roots[0] / path
        try:
            return path.resolve()
        except (OSError, RuntimeError) as error:
            raise UserError(f"{requested} cannot be resolved") from error

    def _listed(self) -> str:
        return ", ".join(str(root) for root in (self.client_roots or self.allowed))


def _folder_of_uri(uri: str) -> Path | None:
    """The folder of a file:// URI; None for other URIs."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in _LOCAL or not path.startswith("/") or "\0" in path:
        return None
    return Path(path).resolve()
