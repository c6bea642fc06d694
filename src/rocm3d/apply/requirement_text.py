"""Turns a mention from any manifest into a requirement that pip reads; translates poetry and conda versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention


def pip_requirement(mention: Mention) -> str:
    """The mention's own text if it is a valid requirement; else its name, extras and translated version."""
    try:
        parsed = Requirement(mention.text)
        parsed.extras |= mention.extras  # other tools list extras separately from the name
        return str(parsed)
    except InvalidRequirement:
        if "://" in mention.url:
            return f"{mention.name} @ {mention.url}"
    extras = f"[{','.join(sorted(mention.extras))}]" if mention.extras else ""
    return f"{mention.name}{extras}{_pip_specifier(mention.version.strip())}"


def _pip_specifier(text: str) -> str:
    caret = re.fullmatch(r"\^(\d+(?:\.\d+)*)", text)
    if caret:  # poetry: below the next version of the first part that is not zero
        parts = caret[1].split(".")
        first = next((index for index, part in enumerate(parts) if int(part)), len(parts) - 1)
        return f">={caret[1]},<{'.'.join([*parts[:first], str(int(parts[first]) + 1)])}"
    conda = re.fullmatch(r"=?(\d+(?:\.\d+)*)(?:=[^=]*)?", text)
    if conda:
        return f"=={conda[1]}.*"
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        return ""
