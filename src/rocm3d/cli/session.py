"""What a subcommand has at hand: the common options, the two streams, and the repository it was asked about."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from rocm3d.model.failure import UserError
from rocm3d.model.inventory import Scan
from rocm3d.pipeline import FOLDER, Repository, load
from rocm3d.render import console
from rocm3d.render.formats import FORMATS, Surroundings, names, refuse_unknown
from rocm3d.scan.selection import Selection
from rocm3d.workspace.configuration import Configuration, configuration
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document

log = logging.getLogger("rocm3d")


@dataclass(frozen=True)
class Session:
    """The common options of one call."""

    quiet: bool
    verbose: bool
    log_file: Path | None
    offline: bool
    no_cache: bool
    knowledge: Path | None

    def load(self) -> Knowledge:
        """The knowledge base with the user's overlay."""
        return load(self.knowledge)

    def configuration(self, path: Path) -> Configuration:
        """The target's own settings."""
        return configuration(Tree.open(path))

    @contextmanager
    def repository(
        self,
        path: Path,
        *,
        work: Path | None = None,
        folder: str = FOLDER,
        only: tuple[str, ...] = (),
        skip: tuple[str, ...] = (),
    ) -> Iterator[Repository]:
        """The target, with progress on a terminal while it is worked on. The command line wins over its settings."""
        settings = self.configuration(path)
        selection = Selection(only or settings.only, skip or settings.skip)
        knowledge = self.load()
        with Console(stderr=True).status("reading", spinner="line") if self._live() else _nothing() as status:

            def progress(message: str) -> None:
                log.debug("%s", message)
                if status is not None:
                    status.update(console.clean(message)[-80:])

            repository = Repository(path, knowledge, work, folder, selection, progress, not self.no_cache)
            if work is None and not repository.documents.folder.is_relative_to(repository.root):
                self.say(f"{path} is not writable; documents go to {repository.documents.folder}")
            yield repository

    def say(self, text: str) -> None:
        """A line about progress or outcome, on stderr."""
        log.info("%s", text)
        if not self.quiet:
            typer.echo(text, err=True)

    def show(self, document: Document, form: str, output: Path | None) -> None:
        """The document, on stdout or in a file, and what to say about it on stderr."""
        refuse_unknown(form, names(type(document)))
        terminal = output is None and sys.stdout.isatty()
        width = Console().width if sys.stdout.isatty() else 120
        around = Surroundings(self.load, terminal, terminal and "NO_COLOR" not in os.environ, width)
        self.put(FORMATS[form].render(document, around), output)
        self.say(console.summary(document, width=width).rstrip("\n"))

    def read_scan(self, path: Path, option: str) -> Scan:
        """An earlier inventory.json that an option names; it must hold every finding of its time."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{option} {path}: {error}") from error
        document = Scan.from_json(text, str(path))
        if document.known:
            raise UserError(
                f"{option} {path}: {document.known} findings are left out of it, as it was made with --baseline",
                hint="take the inventory.json that scan keeps in PATH/.rocm3d",
            )
        return document

    def put(self, text: str, output: Path | None) -> None:
        """Text, on stdout or in a file."""
        if output is None:
            typer.echo(text, nl=False)
            return
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--output {output}: {error.strerror}") from error

    def _live(self) -> bool:
        return not self.quiet and not self.verbose and sys.stderr.isatty()


@contextmanager
def _nothing() -> Iterator[None]:
    yield None
