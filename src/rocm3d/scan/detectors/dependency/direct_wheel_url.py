"""A URL of one compiled wheel: its file name fixes CUDA, torch, Python and ABI, and the resolver cannot choose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import is_compiled_wheel, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NOT_CUDA = re.compile(r"rocm|amd\.com|radeon|\+cpu\b|/cpu/", re.IGNORECASE)


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches compiled wheels whose URL contains a term."""
    for mention in unit.mentions:
        url = unquote(mention.url)
        if not is_compiled_wheel(mention) or _NOT_CUDA.search(url):
            continue
        package = context.knowledge.package_by_pip(mention.name)
        why = _cuda_reason(url, context.code.terms, is_known_package=package is not None)
        if why:
            facts = {"url": mention.url, "why": why}
            yield Match(mention.line, mention.column, facts, package.id if package else None, severity_override(unit))


def _cuda_reason(url: str, terms: Mapping[str, str], *, is_known_package: bool) -> str | None:
    """Terms that start with a platform tag (linux) apply only to packages that are known to be CUDA builds."""
    for term, why in terms.items():
        if term in url and (is_known_package or not term.startswith("linux")):
            return why
    return None


detector = Detector(__name__, code="DEP104", unit_types=ParsedManifest, find=find)
