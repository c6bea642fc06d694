"""Package indexes and pages of links in install options whose URL contains a term, or the regex `pattern`.

In files that nothing is installed from it is a note.
Facts: url, term, why, and the named groups.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.mentions import severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    for option in unit.options:
        for url in option.urls:
            facts = index_facts(url, context)
            if facts:
                yield Match(option.line, option.column, facts, severity=severity_override(unit))


def index_facts(url: str, context: DetectorContext) -> dict[str, str]:
    """The facts about a URL that the rule selects; empty for other URLs."""
    pattern, terms = str(context.parameters.get("pattern", "(?!)")), context.code.terms
    match = re.search(pattern, url.replace("%2B", "+"))
    term = next((term for term in terms if term in url), None)
    named = {name: text or "" for name, text in match.groupdict().items()} if match else {}
    about = {} if term is None else {"term": term, "why": terms[term]}
    return {**named, **about, "url": url} if match or term else {}


matcher = Matcher(unit_types=ParsedManifest, find=find, parameters={"pattern": str})
