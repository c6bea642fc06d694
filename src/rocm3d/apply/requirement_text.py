"""A mention from any manifest as a line that pip reads; what other tools write for a version is translated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention


def requirement(mention: Mention) -> str:
    """Its own text where that is a requirement; else name, extras and what can be said of its version."""
    try:
        read = Requirement(mention.text)
        read.extras |= mention.extras  # other tools keep them apart from the name
        return str(read)
    except InvalidRequirement:
        if "://" in mention.url:
            return f"{mention.name} @ {mention.url}"
    extras = f"[{','.join(sorted(mention.extras))}]" if mention.extras else ""
    return f"{mention.name}{extras}{_version(mention.version.strip())}"


def _version(text: str) -> str:
    caret = re.fullmatch(r"\^(\d+(?:\.\d+)*)", text)
    if caret:  # poetry: up to the next change of the first part that is not zero
        parts = caret[1].split(".")
        first = next((place for place, part in enumerate(parts) if int(part)), len(parts) - 1)
        return f">={caret[1]},<{'.'.join([*parts[:first], str(int(parts[first]) + 1)])}"
    conda = re.fullmatch(r"=?(\d+(?:\.\d+)*)(?:=[^=]*)?", text)
    if conda:
        return f"=={conda[1]}.*"
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        return ""
