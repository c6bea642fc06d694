"""Version ranges of poetry, pipenv and conda in the syntax of pip."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_CARET = re.compile(r"\^(\d+(?:\.\d+)*)")
_TILDE = re.compile(r"~(\d+(?:\.\d+)*)")
_CONDA = re.compile(r"=?(\d+(?:\.\d+)*)(?:\.\*)?(?:=[^=]*)?")


def pip_specifier(text: str) -> str:
    """The range as pip writes it; empty if it has no equivalent."""
    caret, tilde, conda = _CARET.fullmatch(text), _TILDE.fullmatch(text), _CONDA.fullmatch(text)
    if caret:  # poetry: below the next version of the first part that is not zero
        parts = caret[1].split(".")
        first = next((index for index, part in enumerate(parts) if int(part)), len(parts) - 1)
        return f">={caret[1]},<{_next_version(parts[: first + 1])}"
    if tilde:  # poetry: the minor version is fixed, or the major one if there is no minor
        return f">={tilde[1]},<{_next_version(tilde[1].split('.')[:2])}"
    if conda:
        return f"=={conda[1]}.*"
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        return ""


def _next_version(parts: list[str]) -> str:
    return ".".join([*parts[:-1], str(int(parts[-1]) + 1)])
