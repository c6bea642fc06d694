"""Text of a repository, made safe to print: it is shown, never obeyed."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """Text from a repository, safe to print: no control, bidi or tag characters."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)


def readable(text: str) -> str:
    """The same for a page, where tabs and ends of lines do no harm."""
    return text if text.isascii() and text.isprintable() else "".join(c if c in "\t\n" else clean(c) for c in text)
