"""A package index or find-links page that serves CUDA builds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CUDA_VERSION = re.compile(r"[/+_-](?:pt\d+)?cu\d{2,3}\b")


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches options whose URL contains a CUDA version or one of the hosts in the code's terms."""
    for option in unit.options:
        for url in option.urls:
            if is_cuda_index(url, context.code.terms):
                yield Match(option.line, option.column, {"url": url}, severity=severity_override(unit))


def is_cuda_index(url: str, hosts: Mapping[str, str]) -> bool:
    return bool(_CUDA_VERSION.search(url.replace("%2B", "+"))) or any(host in url for host in hosts)


detector = Detector(__name__, code="DEP102", unit_types=ParsedManifest, find=find)
