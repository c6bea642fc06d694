"""The context of one tool call: server options, progress, and access to repository and knowledge base."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rocm3d.model.base import Record
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document
    from rocm3d.pipeline import Repository
    from rocm3d.repository import ScanRepository
    from rocm3d.workspace.configuration import Configuration
    from rocm3d.workspace.documents import Documents

    T = TypeVar("T", bound=ScanRepository)


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
        from rocm3d.knowledge.load import load

        if self.options.no_cache:
            return load(self.options.knowledge)
        from rocm3d.workspace.result_cache import ResultCache

        return load(self.options.knowledge, ResultCache.open("knowledge"))

    def configuration(self, path: str) -> Configuration:
        """The settings of the repository."""
        from rocm3d.workspace.configuration import read_configuration
        from rocm3d.workspace.tree import Tree

        return read_configuration(Tree.open(Path(path)))

    def repository(self, path: str) -> Repository:
        from rocm3d.pipeline import Repository

        return self._open(Repository, path)

    def open_for_scan(self, path: str, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> ScanRepository:
        """The repository for a scan only, which imports much less. Arguments override its settings."""
        from rocm3d.repository import ScanRepository

        return self._open(ScanRepository, path, only, skip)

    def _open(self, repository_class: type[T], path: str, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> T:
        from rocm3d.scan.selection import Selection
        from rocm3d.workspace.state import PORT_FOLDER

        settings = self.configuration(path)
        selection = Selection(only or settings.only, skip or settings.skip)
        cached, knowledge = not self.options.no_cache, self.load()
        selection.check(knowledge)
        return repository_class(Path(path), knowledge, None, PORT_FOLDER, selection, self.progress, cached)


def document_path(documents: Documents, kind: type[Document]) -> str:
    return str(documents.path(kind))


def document_digest(documents: Documents, kind: type[Document]) -> str:
    """The SHA-256 of a document file, as printed by `sha256sum`."""
    path = documents.path(kind)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {path.name}", hint="first call the tool that writes it") from error
