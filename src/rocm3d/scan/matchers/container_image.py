"""Container images whose name is a term, or is below one: `nvcr.io/nvidia/` names a whole registry.

Names of the default registry are compared without it. Parameter `not_tag`: a regex that the tag must not match.
Facts: image, term, why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import DetectorContext, Match, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterator

_REGISTRY = re.compile(r"^(docker\.io|index\.docker\.io|registry-1\.docker\.io)/(library/)?")


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    terms, not_tag = context.code.terms, str(context.parameters.get("not_tag", "(?!)"))
    for image in unit.images:
        name, _, tag = _REGISTRY.sub("", image.name).partition(":")
        term = next((term for term in terms if f"{name}/".startswith(f"{term.rstrip('/')}/")), None)
        if term is not None and not re.search(not_tag, tag):
            yield Match(image.line, image.column, {"image": image.name, "term": term, "why": terms[term]})


matcher = Matcher(unit_types=ParsedManifest, find=find, parameters={"not_tag": str})
