"""The workload of a known repository: whether a command matches it, and the expectations of its record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rocm3d.record.expectation import Expectation, parse_expectation

if TYPE_CHECKING:
    from rocm3d.model.backend import Backend
    from rocm3d.model.port import Port, Workload

_PLACEHOLDER = re.compile(r"<[^<>]*>")
_PYTHON = re.compile(r"python[\d.]*")


def is_workload(command: Sequence[str], workload: Workload) -> bool:
    """Whether the command contains the record's arguments in their order; further arguments may be in between."""
    if not workload.command or not command:
        return False
    program, arguments = command[0], iter(command[1:])
    if not _matches_program(program, workload.command[0]):
        return False
    return all(
        any(_matches_argument(argument, expected) for argument in arguments) for expected in workload.command[1:]
    )


def port_expectations(port: Port, backends: Iterable[Backend]) -> tuple[Expectation, ...]:
    """Expectations of the port's record, each with its source."""
    if port.workload is None:
        return ()
    known = list(backends)
    return tuple(
        replace(parse_expectation(entry.expect, known), source=f"{entry.source.where}, {entry.known}")
        for entry in port.workload.expect
    )


def _matches_program(program: str, expected: str) -> bool:
    """Compares file names; python3.12 matches python."""
    name = PurePath(program).name
    return name == expected or (expected == "python" and _PYTHON.fullmatch(name) is not None)


def _matches_argument(argument: str, expected: str) -> bool:
    """The record's argument, or a path that ends with it; `<...>` in the record matches any text."""
    pattern = ".+".join(re.escape(part) for part in _PLACEHOLDER.split(expected))
    return re.fullmatch(f"(.*/)?{pattern}", argument, re.DOTALL) is not None
