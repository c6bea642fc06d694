"""What dependency rules ask of a mention: how serious its file is, which options go with it, whether it is ROCm's."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.manifest.manifest import Manifest, Mention, Option
    from rocm3d.model.finding import Severity

_REMARKS = frozenset({"markdown", "workflow", "locks"})  # read by people, run elsewhere, or written by a program
_SCRIPTS = frozenset({"shell", "docker", "dockerfile", "markdown", "workflow", "notebook", "setup_py"})
_ROCM = re.compile(r"rocm|\bhip\b|amd\.com|radeon", re.IGNORECASE)


def severity(unit: Manifest) -> Severity | None:
    """A note where nothing installs from the file by itself; None leaves it to the code."""
    folders = {part.lower() for part in PurePosixPath(unit.path).parts[:-1]}
    return "note" if unit.kind in _REMARKS or folders & {"doc", "docs"} else None


def is_conda(mention: Mention) -> bool:
    """Whether conda is asked for it, not pip."""
    return mention.section.endswith("conda")


def is_rocm(unit: Manifest, mention: Mention) -> bool:
    """Whether version, address or index say that the ROCm build is meant."""
    given = (mention.version, mention.url, *(url for option in options_of(unit, mention) for url in option.urls))
    return any(_ROCM.search(text) for text in given)


def is_from_default_index(unit: Manifest, mention: Mention) -> bool:
    """Whether nothing but the name says where it comes from."""
    return not mention.url and not any(option.urls for option in options_of(unit, mention))


def is_compiled_wheel(mention: Mention) -> bool:
    """Whether it is one finished wheel with compiled code, by its address."""
    address = mention.url.split("#")[0].split("?")[0]
    return address.endswith(".whl") and not address.endswith("-none-any.whl")


def options_of(unit: Manifest, mention: Mention) -> list[Option]:
    """Options that hold for a mention: those of its command in scripts, all of the file elsewhere."""
    if unit.kind not in _SCRIPTS:
        return list(unit.options)
    first, last = command_lines(unit, mention.line)
    return [option for option in unit.options if first <= option.line <= last]


def mentions_of(unit: Manifest, option: Option) -> list[Mention]:
    """Mentions that an option holds for."""
    if unit.kind not in _SCRIPTS:
        return list(unit.mentions)
    first, last = command_lines(unit, option.line)
    return [mention for mention in unit.mentions if first <= mention.line <= last]


def command_lines(unit: Manifest, line: int) -> tuple[int, int]:
    """The lines of a command that backslashes hold together."""
    lines = unit.data.split(b"\n")
    first = last = line
    while 1 < first <= len(lines) + 1 and _goes_on(lines[first - 2]):
        first -= 1
    while last < len(lines) and _goes_on(lines[last - 1]):
        last += 1
    return first, last


def _goes_on(line: bytes) -> bool:
    return line.rstrip(b"\r").endswith(b"\\")


def term_of(name: str, terms: Mapping[str, str]) -> str | None:
    """The reason that the terms give for a distribution's name."""
    wanted = canonicalize_name(name)
    return next((why for term, why in terms.items() if canonicalize_name(term) == wanted), None)
