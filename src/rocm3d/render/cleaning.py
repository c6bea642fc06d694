"""Text of a repository, made safe to print: it is shown, never obeyed."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """Text from a repository, safe to print: no control, bidi or tag characters."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)
