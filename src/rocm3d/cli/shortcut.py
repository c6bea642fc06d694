"""A fast path for `rocm3d scan PATH --format json --quiet`: building the full command line takes longer than the scan.

It accepts --only, --skip, --work and --no-cache. Any other argument and any error are left to the full command line,
which reports them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.cli.words import parted
from rocm3d.model.failure import ExitCode

if TYPE_CHECKING:
    from rocm3d.scan.remembered import CachedScan

_QUIET = frozenset({"--quiet", "-q"})


@dataclass
class _Asked:
    """Parsed arguments of the fast path."""

    paths: list[str] = field(default_factory=list)
    quiet: bool = False
    no_cache: bool = False
    options: dict[str, list[str]] = field(
        default_factory=lambda: {"--format": [], "--only": [], "--skip": [], "--work": []}
    )

    @property
    def is_plain(self) -> bool:
        """Whether the fast path applies: one path, JSON, quiet, and --work at most once."""
        given = self.options
        return self.quiet and len(self.paths) == 1 and given["--format"] == ["json"] and len(given["--work"]) < 2

    @property
    def work(self) -> Path | None:
        """The folder of --work."""
        return Path(self.options["--work"][0]) if self.options["--work"] else None


def answered(words: list[str]) -> ExitCode | None:
    """Print the document and return the exit code; None if the full command line must handle the call."""
    asked = _asked(words[1:]) if words[:1] == ["scan"] else None
    if asked is None or not asked.is_plain:
        return None
    try:
        kept = (None if asked.no_cache else _recalled(asked)) or _scanned(asked)
    except KeyboardInterrupt:
        sys.stderr.write("rocm3d: interrupted\n")
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001  (the full command line raises it again and reports it)
        return None
    try:
        sys.stdout.write(kept.text)
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            sys.stderr.close()
        return ExitCode.DONE
    return ExitCode.FINDINGS if kept.serious else ExitCode.DONE


def _recalled(asked: _Asked) -> CachedScan | None:
    """The cached document of an earlier scan; None if the tree, the rules or the records have changed."""
    from rocm3d.recall import recall

    return recall(Path(asked.paths[0]), asked.work, parted(asked.options["--only"]), parted(asked.options["--skip"]))


def _scanned(asked: _Asked) -> CachedScan:
    """The document of a new scan."""
    # Without plugins pydantic does not search all installed distributions. No child process inherits this.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from rocm3d.cli.session import Session
    from rocm3d.scan.remembered import CachedScan

    only, skip = (parted(asked.options[name]) for name in ("--only", "--skip"))
    session = Session(quiet=True, verbose=False, log_file=None, offline=False, no_cache=asked.no_cache, knowledge=None)
    with session.opened(Path(asked.paths[0]), work=asked.work, only=only, skip=skip) as opened:
        document = opened.scan()
    return CachedScan(document.to_json(), any(finding.severity != "note" for finding in document.findings))


def _asked(words: list[str]) -> _Asked | None:
    """Parse the arguments; None if one of them is unknown."""
    asked, rest = _Asked(), iter(words)
    for word in rest:
        if word in asked.options:
            value = next(rest, None)
            if value is None or value.startswith("-"):
                return None
            asked.options[word].append(value)
        elif word in _QUIET:
            asked.quiet = True
        elif word == "--no-cache":
            asked.no_cache = True
        elif word.startswith("-"):
            return None
        else:
            asked.paths.append(word)
    return asked
