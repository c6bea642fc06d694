"""Requirements in manifests and install commands.

Parameter `by`: `name` (default), the name is a term; `url`, the URL contains a term; `extra`, an extra that installs
CUDA packages according to the record of the package; `any`. All further parameters leave requirements out: `version`
and `url`, regexes that must be found, whose named groups are facts; `not_version` and `not_url`; `conda` and `rocm`,
false for packages of conda, and for requests of a ROCm build; `default_index`, true for packages from another index or
a URL; `not_kinds`, kinds of files (modules of rocm3d.manifest); `not_sections`; `package_terms`, terms that count only
for packages with a record. `note_sections`: a section in which a requirement is a note, unless its version has the
regex `note_unless`. In files that nothing is installed from it is a note too.
Facts: name, version, url, requirement, file, term, why.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.mentions import is_conda, is_from_default_index, requests_rocm, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocm3d.model.finding import Severity

_FLAGS = (True, False)


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    parameters = context.parameters
    for mention in unit.mentions:
        selected = list(_selected(mention, context))
        groups = _groups(mention, parameters) if selected else None
        if groups is None or _is_left_out(unit, mention, parameters):
            continue
        package = context.knowledge.package_by_pip(mention.name)
        for facts in selected:
            about = {"file": PurePosixPath(unit.path).name, "version": mention.version, "url": mention.url, **groups}
            severity = _severity(unit, mention, parameters)
            yield Match(mention.line, mention.column, {**about, **facts}, package.id if package else None, severity)


def _selected(mention: Mention, context: DetectorContext) -> Iterator[dict[str, str]]:
    """The facts of each reason to select a mention."""
    by, terms = context.parameters.get("by", "name"), context.code.terms
    extras = f"[{','.join(sorted(mention.extras))}]" if mention.extras else ""
    facts = {"name": mention.name, "requirement": f"{mention.name}{extras}{mention.version}"}
    if by == "any":
        yield facts
    elif by == "extra":
        for extra, why in context.knowledge.cuda_extras(mention.name, mention.extras).items():
            yield {**facts, "requirement": f"{mention.name}[{extra}]", "why": why}
    else:
        term = _term_of_url(mention, context) if by == "url" else _term_of_name(mention.name, context)
        if term is not None:
            yield {**facts, "term": term, "why": terms[term]}


def _term_of_name(name: str, context: DetectorContext) -> str | None:
    """The term that is the name in canonical form."""
    canonical_name = canonicalize_name(name)
    return next((term for term in context.code.terms if canonicalize_name(term) == canonical_name), None)


def _term_of_url(mention: Mention, context: DetectorContext) -> str | None:
    url = unquote(mention.url)
    package_terms: Any = context.parameters.get("package_terms", ())
    is_package = context.knowledge.package_by_pip(mention.name) is not None if url else False
    candidates = (term for term in context.code.terms if is_package or term not in package_terms)
    return next((term for term in candidates if term in url), None)


def _groups(mention: Mention, parameters: Mapping[str, Any]) -> dict[str, str] | None:
    """The named groups of the regexes; None if one that must be found is not, or one that must not is."""
    texts = {"version": mention.version, "url": unquote(mention.url)}
    groups: dict[str, str] = {}
    for name, text in texts.items():
        match = re.search(parameters.get(name, ""), text)
        refused = parameters.get(f"not_{name}")
        if match is None or (refused and re.search(refused, text)):
            return None
        groups |= {group: value or "" for group, value in match.groupdict().items()}
    return groups


def _is_left_out(unit: ParsedManifest, mention: Mention, parameters: Mapping[str, Any]) -> bool:
    return (
        unit.kind in parameters.get("not_kinds", ())
        or mention.section in parameters.get("not_sections", ())
        or (not parameters.get("conda", True) and is_conda(mention))
        or (not parameters.get("rocm", True) and requests_rocm(unit, mention))
        or (parameters.get("default_index", False) and not is_from_default_index(unit, mention))
    )


def _severity(unit: ParsedManifest, mention: Mention, parameters: Mapping[str, Any]) -> Severity | None:
    is_exception = re.search(parameters.get("note_unless", "(?!)"), mention.version) is not None
    if mention.section in parameters.get("note_sections", ()) and not is_exception:
        return "note"
    return severity_override(unit)


matcher = Matcher(
    unit_types=ParsedManifest,
    find=find,
    parameters={
        "by": ("name", "url", "extra", "any"),
        "version": str,
        "url": str,
        "not_version": str,
        "not_url": str,
        "conda": _FLAGS,
        "rocm": _FLAGS,
        "default_index": _FLAGS,
        "not_kinds": list,
        "not_sections": list,
        "package_terms": list,
        "note_sections": list,
        "note_unless": str,
    },
)
