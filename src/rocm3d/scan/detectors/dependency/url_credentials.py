"""Credentials in the URL of an index or of a requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.model.credentials import has_credentials, without_credentials
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """One match for each such URL."""
    options = ((option.line, option.column, url) for option in unit.options for url in option.urls)
    mentions = ((mention.line, mention.column, mention.url) for mention in unit.mentions)
    for line, column, url in dict.fromkeys((*options, *mentions)):
        if has_credentials(url):
            yield Match(line, column, {"url": without_credentials(url)}, severity=severity_override(unit))


detector = Detector(__name__, code="DEP107", unit_types=ParsedManifest, find=find, prefilter=(b"://",))
