"""A container with a CUDA base image or NVIDIA's container runtime. The code's terms list them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match

if TYPE_CHECKING:
    from collections.abc import Iterator

_REGISTRY = re.compile(r"^(docker\.io|index\.docker\.io|registry-1\.docker\.io)/(library/)?")
_OTHER_BACKEND = re.compile(r"rocm|cpu|xpu", re.IGNORECASE)


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches images whose name starts with one of the code's terms, and settings that equal one."""
    terms = context.code.terms
    for image in unit.images:
        name, _, tag = _REGISTRY.sub("", image.name).partition(":")
        term = next(
            (
                candidate
                for candidate in terms
                if name == candidate.rstrip("/") or name.startswith(candidate.rstrip("/") + "/")
            ),
            None,
        )
        if term is not None and not _OTHER_BACKEND.search(tag):
            yield Match(image.line, image.column, {"image": image.name, "why": terms[term]})
    for command in unit.commands if unit.kind == "docker" else ():
        setting = f"{command.name}: {command.arguments[0] if command.arguments else ''}"
        if setting in terms:
            yield Match(command.line, command.column, {"image": setting, "why": terms[setting]}, severity="warning")


detector = Detector(__name__, code="BLD303", unit_types=ParsedManifest, find=find)
