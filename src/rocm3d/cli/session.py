"""The context of a subcommand: common options, output, and access to repository and knowledge base."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.model.errors import UserError
from rocm3d.render.formats import FORMATS, RenderContext, format_names, refuse_unknown_format
from rocm3d.workspace.state import PORT_FOLDER

if TYPE_CHECKING:
    from rich.status import Status

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document
    from rocm3d.model.inventory import Scan, UnscannedCode
    from rocm3d.model.plan_choices import LicenceRule
    from rocm3d.model.port_state import PortState
    from rocm3d.model.target import Gpu
    from rocm3d.repository import Repository
    from rocm3d.workspace.submodule_sources import SubmoduleSource

log = logging.getLogger("rocm3d")


@dataclass(frozen=True)
class CliSession:
    """The common options of one call, and what subcommands share."""

    quiet: bool
    verbose: bool
    log_file: Path | None
    offline: bool
    no_cache: bool
    knowledge: Path | None
    isolated: bool = False
    _status_lines: list[Status] = field(default_factory=list, compare=False)

    def load(self) -> Knowledge:
        """The knowledge base with the user's overlay."""
        from rocm3d.repository import load_knowledge

        return load_knowledge(self.knowledge, cached=not self.no_cache)

    @contextmanager
    def repository(
        self,
        path: Path,
        *,
        work: Path | None = None,
        folder: str = PORT_FOLDER,
        only: tuple[str, ...] = (),
        skip: tuple[str, ...] = (),
        lock: str = "",
        spinner: bool = True,
        any_folder: bool = False,
        needs_git: bool = False,
        reads_only: bool = False,
    ) -> Iterator[Repository]:
        """The repository with its settings, which the command line overrides; without them if isolated.

        `lock`: the command that will change the tree; the tree is locked for it during the block. `any_folder`: also
        one with nothing to scan; `needs_git`: only one that git can undo; `reads_only`: nothing is written to it.
        Without `spinner` the command can ask questions meanwhile.
        """
        from rocm3d.repository import open_repository

        with self.progress("reading", shown=spinner) as progress:
            repository = open_repository(
                path,
                self.load,
                only,
                skip,
                isolated=self.isolated,
                any_folder=any_folder,
                needs_git=needs_git,
                work=work,
                folder=folder,
                reads_only=reads_only,
                progress=progress,
                cached=not self.no_cache,
            )
            is_outside = not repository.documents.folder.is_relative_to(repository.root)
            if work is None and is_outside and not reads_only:
                self.print_status(f"{path} is read-only; documents are written to {repository.documents.folder}")
            with repository.locked(lock) if lock else nullcontext():
                yield repository
            for path_of_file in repository.documents.ignored:
                self.print_status(f"{path_of_file} was ignored: it was not written by you on this machine")

    def gpu(self, name: str | None, repository: Repository) -> Gpu:
        """The GPU of this name, else that of the repository's settings, which a line says, else that of the machine."""
        from rocm3d.pipeline import resolve_gpu

        settings = repository.settings
        gpu = resolve_gpu(name or settings.gpu, repository.knowledge)
        if not name and settings.gpu:
            self.print_status(f"GPU: {gpu.title}, set in {settings.source}; choose another with --gpu")
        return gpu

    def licence_policy(self, rule: LicenceRule | None, repository: Repository) -> LicenceRule | None:
        """The user's policy, else that of the repository's settings, which a line says."""
        settings = repository.settings
        if rule is None and settings.licence_policy is not None:
            self.print_status(
                f"licence policy: {settings.licence_policy}, set in {settings.source}; "
                "choose another with --licence-policy"
            )
        return rule or settings.licence_policy

    def submodules_to_fetch(
        self, repository: Repository, *, requested: bool, into: Path | None
    ) -> Sequence[SubmoduleSource]:
        """The submodules that are not checked out, if they were requested. For a copy, a terminal is asked."""
        if not requested and (into is None or self.offline or not self.has_terminal):
            return ()
        missing = repository.missing_submodules()
        if requested or not missing:
            return missing
        verb = "is" if len(missing) == 1 else "are"
        names = ", ".join(item.path for item in missing)
        subject = f"{counted(len(missing), 'submodule')} {verb} not checked out: {names}"
        return missing if self.confirm(f"{subject}. Fetch into {into}?") else ()

    @property
    def has_terminal(self) -> bool:
        """Whether somebody can answer a question."""
        # The status line replaces sys.stderr by an object that is no terminal.
        streams = (sys.stdin, sys.__stderr__)
        return not self.quiet and all(stream is not None and stream.isatty() for stream in streams)

    def confirm(self, question: str) -> bool:
        """Ask on the terminal; the default is no. The status line is hidden meanwhile."""
        from typer import confirm

        from rocm3d.render.sanitize import clean

        for status in self._status_lines:
            status.stop()
        answer = confirm(clean(question), err=True)
        for status in self._status_lines:
            status.start()
        return answer

    @contextmanager
    def progress(self, activity: str, *, shown: bool = True) -> Iterator[Callable[[str], None]]:
        """A callback for progress messages: a status line on a terminal, else the log."""
        if self.quiet or self.verbose or not shown or not sys.stderr.isatty():
            yield lambda message: log.debug("%s", message)
            return
        from rich.console import Console

        from rocm3d.render.sanitize import clean

        with Console(stderr=True).status(activity, spinner="line") as status:

            def update(message: str) -> None:
                log.debug("%s", message)
                status.update(clean(message)[-80:])

            self._status_lines.append(status)
            try:
                yield update
            finally:
                self._status_lines.remove(status)

    def progress_of_units(self, status_line: Callable[[str], None]) -> Callable[[str], None]:
        """For work of minutes: a status line on a terminal, else lines, which a log keeps."""
        return status_line if self._status_lines else self.print_status

    @property
    def prints_status(self) -> bool:
        """Whether a status reaches the terminal or the log: else it need not be rendered."""
        return not self.quiet or self.verbose or self.log_file is not None

    def print_status(self, text: str) -> None:
        """Print a line on stderr, unless quiet."""
        log.info("%s", text)
        if not self.quiet:
            _echo(text, err=True)

    def print_failure(self, text: str) -> None:
        """Print a line about something that failed and that the command goes on without, also if quiet."""
        log.warning("%s", text)
        _echo(text, err=True)

    def print_unscanned(self, unscanned: Sequence[UnscannedCode]) -> None:
        """Print what was not scanned, with the commands that fetch it, on stderr."""
        if unscanned and self.prints_status:
            from rocm3d.render import console

            self.print_status(console.render_unscanned(unscanned).rstrip("\n"))

    def show(self, document: Document, form: str, output: Path | None, *, colour: bool | None = None) -> None:
        """Write a document to stdout or a file, and its summary to stderr. `colour` None: only on a terminal."""
        refuse_unknown_format(form, format_names(type(document)))
        terminal = output is None and sys.stdout.isatty()
        width = _terminal_width() if sys.stdout.isatty() else 120
        coloured = terminal and "NO_COLOR" not in os.environ if colour is None else colour
        render_context = RenderContext(self.load, terminal, coloured, width)
        self.write_output(FORMATS[form].render(document, render_context), output, colour=colour)
        if self.prints_status:
            from rocm3d.render import console

            if summary := console.summary(document, width=width).rstrip("\n"):
                self.print_status(summary)

    def show_state(self, state: PortState, path: Path) -> None:
        """Print how far a port is, on stderr. The last line is the next command."""
        if self.prints_status:
            from rocm3d.render.rungs import state_lines

            for line in state_lines(state.for_path(quoted_path(path))):
                self.print_status(line)

    def read_scan(self, path: Path, option: str) -> Scan:
        """Read an inventory.json from an option. Refuses one that was made with --baseline: it is incomplete."""
        from rocm3d.model.inventory import Scan

        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{option} {path}: {error}") from error
        document = Scan.from_json(text, str(path))
        if document.known:
            raise UserError(
                f"{option} {path} was made with --baseline and omits {counted(document.known, 'finding')}",
                hint="use the inventory.json that scan writes to PATH/.rocm3d",
            )
        return document

    def write_output(self, text: str, output: Path | None, *, colour: bool | None = None) -> None:
        """Write text to stdout or a file. `colour` None: keep colours only on a terminal."""
        from rocm3d.workspace.documents import chunks, write_chunks

        if output is None:
            for chunk in chunks(text):
                _echo(chunk, nl=False, color=colour)
            return
        try:
            write_chunks(output, text)
        except OSError as error:
            raise UserError(f"--output {output}: {error.strerror}") from error


def quoted_path(path: Path) -> str:
    """As an argument of a command that somebody copies."""
    return shlex.quote(str(path))


def _echo(text: str, *, nl: bool = True, err: bool = False, color: bool | None = None) -> None:
    """typer.echo, imported on first use: a plain scan does not need typer."""
    from typer import echo

    echo(text, nl=nl, err=err, color=color)


def _terminal_width() -> int:
    """Columns of the terminal."""
    from rich.console import Console

    return Console().width
