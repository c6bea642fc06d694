"""A second index next to the default one: pip takes the highest version of both, so PyPI's CUDA build can win.

Reported only for packages with a record in the knowledge base. cuda_index reports indexes of CUDA builds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import InstallOption, Mention, ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match, context_of, load_detectors
from rocm3d.scan.matchers.package_index import index_facts
from rocm3d.scan.mentions import is_conda, mentions_with_option, reason_for, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator

_MIRROR = re.compile(r"/pypi/(web/)?simple|//pypi\.(tuna|org|python)\b")  # the default index by another name
_MAX_SHOWN = 3


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches options that add an index, and names the packages at risk."""
    (cuda_index_detector,) = load_detectors(context.knowledge.codes["DEP102"])
    cuda_index = context_of(cuda_index_detector, context.knowledge)
    for option in unit.options:
        urls = [url for url in option.urls if not index_facts(url, cuda_index) and not _MIRROR.search(url)]
        if not urls or not _is_extra_index(unit, option, context):
            continue
        pip_mentions = [mention for mention in mentions_with_option(unit, option) if not is_conda(mention)]
        names_at_risk = list(dict.fromkeys(mention.name for mention in pip_mentions if _is_at_risk(mention, context)))
        if names_at_risk:
            shown = ", ".join(names_at_risk[:_MAX_SHOWN]) + (
                f" and {len(names_at_risk) - _MAX_SHOWN} more" if len(names_at_risk) > _MAX_SHOWN else ""
            )
            yield Match(option.line, option.column, {"name": shown, "url": urls[0]}, severity=severity_override(unit))


def _is_extra_index(unit: ParsedManifest, option: InstallOption, context: DetectorContext) -> bool:
    """Whether the option adds to the default index instead of replacing it."""
    lines = unit.data.decode("utf-8", "replace").split("\n")[option.line - 1 : max(option.last_line, option.line)]
    text = "\n".join(lines)
    option_text = text[option.column - 1 :].split(option.urls[0])[0]
    return any(term in option_text for term in context.code.terms)


def _is_at_risk(mention: Mention, context: DetectorContext) -> bool:
    stack_terms = context.knowledge.codes["DEP202"].terms
    known = context.knowledge.cuda_package(mention.name, mention.extras)
    return known is not None or reason_for(mention.name, stack_terms) is not None


detector = Detector(__name__, code="DEP103", unit_types=ParsedManifest, find=find)
