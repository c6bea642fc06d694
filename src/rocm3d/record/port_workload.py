"""The workload of a known repository: whether a command matches it, and the expectations of its record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rocm3d.record.expectation import Expectation, read

if TYPE_CHECKING:
    from rocm3d.model.backend import Backend
    from rocm3d.model.port import Port, Workload

_OWN = re.compile(r"<[^<>]*>")
_PYTHON = re.compile(r"python[\d.]*")


def is_workload(command: Sequence[str], workload: Workload) -> bool:
    """Whether the command contains the record's arguments in their order; further arguments may be in between."""
    if not workload.command or not command:
        return False
    program, words = command[0], iter(command[1:])
    if not _is_program(program, workload.command[0]):
        return False
    return all(any(_is_word(word, wanted) for word in words) for wanted in workload.command[1:])


def port_expectations(port: Port, backends: Iterable[Backend]) -> tuple[Expectation, ...]:
    """Expectations of the port's record, each with its source."""
    if port.workload is None:
        return ()
    known = list(backends)
    return tuple(
        replace(read(item.expect, known), source=f"{item.source.where}, {item.known}") for item in port.workload.expect
    )


def _is_program(word: str, wanted: str) -> bool:
    """Compares file names; python3.12 matches python."""
    name = PurePath(word).name
    return name == wanted or (wanted == "python" and _PYTHON.fullmatch(name) is not None)


def _is_word(word: str, wanted: str) -> bool:
    """The record's argument, or a path that ends with it; `<...>` in the record matches any text."""
    pattern = ".+".join(re.escape(part) for part in _OWN.split(wanted))
    return re.fullmatch(f"(.*/)?{pattern}", word, re.DOTALL) is not None
