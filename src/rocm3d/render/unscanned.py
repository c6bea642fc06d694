"""Text about code that was not scanned: one line for each reason, with the command that fetches the code."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.model.inventory import GIT_DEPENDENCY, LFS_POINTER, NOT_CHECKED_OUT
from rocm3d.render.grouping import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.inventory import UnscannedCode

_SHOWN_NAMES = 6
_INCLUDE = "--include="


@dataclass(frozen=True)
class UnscannedGroup:
    """Code that was not scanned for one reason. `commands` fetch all of it, and scan it."""

    reason: str
    names: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The code, as the subject of a sentence: `3 submodules that are not checked out`."""
        count = len(self.names)
        verb = "is" if count == 1 else "are"
        if self.reason == NOT_CHECKED_OUT:
            return f"{counted(count, 'submodule')} that {verb} not checked out"
        if self.reason == GIT_DEPENDENCY:
            return counted(count, "git dependency", "git dependencies")
        if self.reason == LFS_POINTER:
            return f"{counted(count, 'file')} that Git LFS has not fetched"
        return counted(count, "file or folder", "files or folders")

    @property
    def text(self) -> str:
        """The subject with the names, or the name with the reason."""
        names = ", ".join(self.names[:_SHOWN_NAMES])
        more = f" and {len(self.names) - _SHOWN_NAMES} more" if len(self.names) > _SHOWN_NAMES else ""
        if self.reason in (NOT_CHECKED_OUT, GIT_DEPENDENCY, LFS_POINTER):
            return f"{self.subject} ({names}{more})"
        return f"{names}{more} {self.reason}"


def group_unscanned(unscanned: Iterable[UnscannedCode]) -> tuple[UnscannedGroup, ...]:
    """By reason, in order. Commands that differ only in what they fetch become one."""
    groups = []
    for reason, items in group_by(unscanned, lambda item: item.reason).items():
        names = tuple(dict.fromkeys(item.name for item in items))
        groups.append(UnscannedGroup(reason, names, _joined_commands([item.commands for item in items])))
    return tuple(groups)


def _joined_commands(commands: list[tuple[str, ...]]) -> tuple[str, ...]:
    different = list(dict.fromkeys(commands))
    if len(different) == 1:
        return different[0]
    fetches = [shlex.split(first) for first, *_ in filter(None, different)]
    rests = {tuple(rest) for _, *rest in filter(None, different)}
    if len(fetches) == len(different) and len(rests) == 1 and len({tuple(words[:-1]) for words in fetches}) == 1:
        *start, _ = fetches[0]
        last = [words[-1] for words in fetches]
        if all(word.startswith(_INCLUDE) for word in last):
            last = [_INCLUDE + ",".join(word.removeprefix(_INCLUDE) for word in last)]
        return shlex.join([*start, *last]), *rests.pop()
    return tuple(line for lines in different for line in lines)
