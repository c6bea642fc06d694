"""A scan that was made before, answered before the command line is built: to load that takes longer than the answer.

It knows the words of `rocm3d scan PATH --format json --quiet` with --only, --skip and --work. Any other word, any
failure, and any change of the tree leave the call to the command line.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

from rocm3d.model.failure import Exit, Failure

_QUIET = frozenset({"--quiet", "-q"})


@dataclass
class _Asked:
    """What the words say."""

    paths: list[str] = field(default_factory=list)
    quiet: bool = False
    options: dict[str, list[str]] = field(
        default_factory=lambda: {"--format": [], "--only": [], "--skip": [], "--work": []}
    )

    @property
    def is_plain(self) -> bool:
        """Whether nothing is said twice, and the document is all that is wanted."""
        given = self.options
        return self.quiet and len(self.paths) == 1 and given["--format"] == ["json"] and len(given["--work"]) < 2


def answered(words: list[str]) -> Exit | None:
    """Prints the document and gives the exit code; None where the command line has to do it."""
    asked = _asked(words[1:]) if words[:1] == ["scan"] else None
    if asked is None or not asked.is_plain:
        return None
    from rocm3d.recall import recall

    given = asked.options
    work = Path(given["--work"][0]) if given["--work"] else None
    try:
        kept = recall(Path(asked.paths[0]), work, given["--only"], given["--skip"])
    except (Failure, OSError):
        return None
    if kept is None:
        return None
    try:
        sys.stdout.write(kept.text)
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            sys.stderr.close()
        return Exit.DONE
    return Exit.FINDINGS if kept.serious else Exit.DONE


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
        elif word.startswith("-"):
            return None
        else:
            asked.paths.append(word)
    return asked
