"""The scan that programs make again and again, without the command line: to build that takes longer than to look.

It knows the words of `rocm3d scan PATH --format json --quiet` with --only, --skip, --work and --no-cache. Any other
word and any failure leave the call to the command line, which says what is wrong.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.cli.words import parted
from rocm3d.model.failure import Exit

if TYPE_CHECKING:
    from rocm3d.scan.remembered import Kept

_QUIET = frozenset({"--quiet", "-q"})


@dataclass
class _Asked:
    """What the words say."""

    paths: list[str] = field(default_factory=list)
    quiet: bool = False
    no_cache: bool = False
    options: dict[str, list[str]] = field(
        default_factory=lambda: {"--format": [], "--only": [], "--skip": [], "--work": []}
    )

    @property
    def is_plain(self) -> bool:
        """Whether nothing is said twice, and the document is all that is wanted."""
        given = self.options
        return self.quiet and len(self.paths) == 1 and given["--format"] == ["json"] and len(given["--work"]) < 2

    @property
    def work(self) -> Path | None:
        """Where documents go."""
        return Path(self.options["--work"][0]) if self.options["--work"] else None


def answered(words: list[str]) -> Exit | None:
    """Prints the document and gives the exit code; None where the command line has to do it."""
    asked = _asked(words[1:]) if words[:1] == ["scan"] else None
    if asked is None or not asked.is_plain:
        return None
    try:
        kept = (None if asked.no_cache else _recalled(asked)) or _scanned(asked)
    except KeyboardInterrupt:
        sys.stderr.write("rocm3d: interrupted\n")
        return Exit.INTERRUPTED
    except Exception:  # noqa: BLE001  (whatever it is, the command line meets it, too, and knows how to tell it)
        return None
    try:
        sys.stdout.write(kept.text)
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            sys.stderr.close()
        return Exit.DONE
    return Exit.FINDINGS if kept.serious else Exit.DONE


def _recalled(asked: _Asked) -> Kept | None:
    """The document of a scan that was made before; None where the tree, the rules or the records have changed."""
    from rocm3d.recall import recall

    return recall(Path(asked.paths[0]), asked.work, parted(asked.options["--only"]), parted(asked.options["--skip"]))


def _scanned(asked: _Asked) -> Kept:
    """The document of a new scan."""
    # Plugins of other programs are not looked for among all that is installed. No program is started from here on.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from rocm3d.cli.session import Session
    from rocm3d.scan.remembered import Kept

    only, skip = (parted(asked.options[name]) for name in ("--only", "--skip"))
    session = Session(quiet=True, verbose=False, log_file=None, offline=False, no_cache=asked.no_cache, knowledge=None)
    with session.opened(Path(asked.paths[0]), work=asked.work, only=only, skip=skip) as opened:
        document = opened.scan()
    return Kept(document.to_json(), any(finding.severity != "note" for finding in document.findings))


def _asked(words: list[str]) -> _Asked | None:
    """None at the first word that is not known here."""
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
