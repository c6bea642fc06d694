"""The context of one tool call: server options, progress, and access to repository and knowledge base."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.base import Record
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document
    from rocm3d.repository import Repository
    from rocm3d.workspace.documents import Documents


class ServerOptions(Record):
    """Options of `rocm3d mcp`."""

    knowledge: Path | None = None
    no_cache: bool = False
    offline: bool = False
    read_only: bool = False
    allow_run: bool = False


class ToolContext:
    """The context of one tool call, in a worker process."""

    def __init__(self, options: ServerOptions, progress: Callable[[str], None]) -> None:
        self.options, self.progress = options, progress

    def load(self) -> Knowledge:
        """The knowledge base with the user's overlay."""
        from rocm3d.repository import load_knowledge

        return load_knowledge(self.options.knowledge, cached=not self.options.no_cache)

    def repository(  # noqa: PLR0913  (as on the command line)
        self,
        path: str,
        only: tuple[str, ...] = (),
        skip: tuple[str, ...] = (),
        *,
        isolated: bool = False,
        any_folder: bool = False,
        needs_git: bool = False,
        reads_only: bool = False,
    ) -> Repository:
        """The repository with its settings, which arguments override; without them if isolated.

        `any_folder`: also one with nothing to scan; `needs_git`: only one that git can undo; `reads_only`: nothing is
        written to it.
        """
        from rocm3d.repository import open_repository

        return open_repository(
            Path(path),
            self.load,
            only,
            skip,
            isolated=isolated,
            any_folder=any_folder,
            needs_git=needs_git,
            reads_only=reads_only,
            progress=self.progress,
            cached=not self.options.no_cache,
        )


def document_path(documents: Documents, kind: type[Document]) -> str:
    return str(documents.path(kind))


def document_digest(documents: Documents, kind: type[Document]) -> str:
    """The SHA-256 of a document file, as printed by `sha256sum`."""
    path = documents.path(kind)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {path.name}", hint="first call the tool that writes it") from error
