"""A compiled file in the repository that is built for CUDA according to its name, or for an unknown backend."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.finding import Severity

_CUDA_WHEEL = re.compile(r"(\+|[-_.])(?:pt\d+)?cu(?:da)?-?\d{2,3}")
_NOT_CUDA = re.compile(r"-any\.whl$|rocm|hip|macosx|win(32|_amd64|_arm64)")


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches by suffix, library name and wheel tags."""
    if unit.kind != "binaries":
        return
    terms = context.code.terms
    for command in unit.commands:
        (path,) = command.arguments
        name = PurePosixPath(path).name.lower()
        library = next((term for term in terms if term.startswith("lib") and name.startswith(term)), None)
        if library is not None:
            yield _match(path, terms[library])
        elif command.name == ".whl":
            if _CUDA_WHEEL.search(name):
                yield _match(path, terms["+cu"])
            elif not _NOT_CUDA.search(name):
                yield _match(path, terms[".whl"], "warning")
        elif command.name == ".so":
            yield _match(path, terms[".so"], "note")
        elif command.name in terms:
            yield _match(path, terms[command.name])


def _match(path: str, why: str, severity: Severity | None = None) -> Match:
    return Match(1, 1, {"path": path, "why": why}, severity=severity)


detector = Detector(__name__, code="BLD302", unit_types=ParsedManifest, find=find)
