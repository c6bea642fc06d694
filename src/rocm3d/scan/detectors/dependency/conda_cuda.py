"""CUDA from conda: NVIDIA's channel, the toolkit, or a CUDA build of torch. conda has no ROCm build of any of them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import is_conda, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches channels and packages among the code's terms, and packages with a record in the knowledge base."""
    for option in unit.options:
        for url in option.urls:
            why = None if "://" in url else _channel_reason(url, context.code.terms)
            if why:
                yield Match(option.line, option.column, {"name": url, "why": why}, severity=severity_override(unit))
    for mention in unit.mentions:
        if is_conda(mention):
            yield from _package_matches(unit, mention, context)


def _package_matches(unit: ParsedManifest, mention: Mention, context: DetectorContext) -> Iterator[Match]:
    package = context.knowledge.cuda_package(mention.name, conda=True)
    why = _package_reason(mention.name, context.code.terms)
    if why is None and package is not None:
        why = package.purpose
    if why is not None:
        facts = {"name": mention.name, "why": why}
        yield Match(mention.line, mention.column, facts, package.id if package else None, severity_override(unit))


def _channel_reason(name: str, terms: Mapping[str, str]) -> str | None:
    return next(
        (w for t, w in terms.items() if w.endswith("channel") and (name == t or name.startswith(f"{t}/"))), None
    )


def _package_reason(name: str, terms: Mapping[str, str]) -> str | None:
    """The reason of the first matching term. Terms are glob patterns, because the toolkit has about thirty packages."""
    lower = name.lower()
    return next((w for t, w in terms.items() if fnmatchcase(lower, t) and not w.endswith("channel")), None)


detector = Detector(__name__, code="DEP105", unit_types=ParsedManifest, find=find)
