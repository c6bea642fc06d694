"""Makes untrusted text of a repository safe to print."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """Replaces control, bidi and tag characters."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)


def clean_multiline(text: str) -> str:
    """The same, but keeps tabs and newlines."""
    return text if text.isascii() and text.isprintable() else "".join(c if c in "\t\n" else clean(c) for c in text)
