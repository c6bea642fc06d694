"""Restricts paths to the roots of the client and to the folders of --root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOCAL = ("", "localhost")
_LONGEST = 4096


@dataclass(frozen=True)
class Roots:
    """`allowed` lists the folders of --root, `given` the roots of the client. A path must satisfy both."""

    allowed: tuple[Path, ...] = ()
    given: tuple[Path, ...] = ()

    @classmethod
    def of(cls, allowed: Iterable[Path], uris: Iterable[str]) -> Roots:
        """Resolve symbolic links; URIs that are not local folders are omitted."""
        return cls(tuple(path.resolve() for path in allowed), tuple(filter(None, map(_place, uris))))

    def confine(self, asked: str) -> Path:
        """The resolved path. UserError if it is not allowed; the message reveals nothing about other folders."""
        if not self.allowed and not self.given:
            raise UserError(
                "this client provides no roots, and the server was started without --root",
                hint="start it with `rocm3d mcp --root DIR`",
            )
        if not asked or len(asked) > _LONGEST or "\0" in asked:
            raise UserError("the path is empty, too long, or contains a null byte")
        place = self._resolved(asked)
        for limit in filter(None, (self.allowed, self.given)):
            if not any(place == root or root in place.parents for root in limit):
                raise UserError(f"{asked} is outside the allowed folders: {self._told()}")
        return place

    def _resolved(self, asked: str) -> Path:
        path = Path(asked)
        if not path.is_absolute():
            roots = self.given or self.allowed
            if len(roots) > 1:
                raise UserError(f"{asked} is ambiguous; allowed folders: {self._told()}", hint="pass an absolute path")
            path = roots[0] / path
        try:
            return path.resolve()
        except (OSError, RuntimeError) as error:
            raise UserError(f"{asked} cannot be resolved") from error

    def _told(self) -> str:
        return ", ".join(str(root) for root in (self.given or self.allowed))


def _place(uri: str) -> Path | None:
    """The folder of a file:// URI; None for other URIs."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in _LOCAL or not path.startswith("/") or "\0" in path:
        return None
    return Path(path).resolve()
