"""The closed list of edits that cannot be guarded and that nvcc compiles to the same program.

Launch chevrons without spaces, a cast of the kernel passed to cudaFunc*, an include of <cfloat>, and `__host__` before
a member's `__device__`. This module proves that nothing else changed; only nvcc can prove that the code is the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Tokens = Sequence[str]

_LOOK = 8  # tokens; no edit is longer
_WORD = re.compile(r"[A-Za-z_]\w*|>+")


@dataclass(frozen=True)
class _Place:
    """The position where two token streams differ: old tokens before it, and tokens after it in each stream."""

    before: Tokens
    old: Tokens
    new: Tokens
    launches: int  # kernel launches still open in the new stream


@dataclass(frozen=True)
class _Edit:
    """A replacement of tokens that is allowed where `fits` is true."""

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    fits: Callable[[_Place], bool] = lambda _: True

    def is_at(self, place: _Place) -> bool:
        here = tuple(place.old[: len(self.old)]) == self.old and tuple(place.new[: len(self.new)]) == self.new
        return here and self.fits(place)


def _opens(place: _Place) -> bool:
    return bool(place.before) and _WORD.fullmatch(place.before[-1]) is not None


def _closes(place: _Place) -> bool:
    """Whether chevrons before call arguments close an open launch; otherwise they may end nested templates."""
    return place.new[1:2] == ["("] and place.launches == 1


def _casts(place: _Place) -> bool:
    return place.before[-1:] == ["("] and "".join(place.before[-2:-1]).startswith("cudaFunc")


def _adds_host(place: _Place) -> bool:
    return place.old[:1] == ["__device__"] and place.before[-1:] != ["__host__"]


_CHEVRONS, _CAST, _HEADER, _HOST = "launch chevrons", "cast of a kernel", "<cfloat>", "__host__ on a member"
_EDITS = (
    *(_Edit(_CHEVRONS, old, ("<<<",), _opens) for old in (("<<", "<"), ("<", "<<"), ("<", "<", "<"))),
    *(_Edit(_CHEVRONS, old, (">>>",), _closes) for old in ((">>", ">"), (">", ">>"), (">", ">", ">"))),
    _Edit(_CAST, (), ("(", "const", "void", "*", ")"), _casts),
    _Edit(_HEADER, (), ("#", "include", "<", "cfloat", ">", "\n")),
    _Edit(_HOST, (), ("__host__",), _adds_host),
)


# Every line changed by one of the edits contains one of these.
MARKS = (b"<<<", b">>>", b"void", b"__host__")
_INCLUDE = b"#include <cfloat>"


def without_added_include(old: bytes, new: bytes) -> bytes:
    """The new text without an added `#include <cfloat>` line."""
    if _INCLUDE in old:
        return new
    return b"".join(line for line in new.splitlines(keepends=True) if line.strip() != _INCLUDE)


def closed_edits(old: Tokens, new: Tokens) -> Counter[str] | None:
    """Count of each listed edit that turns one stream into the other; None if anything else differs."""
    found: Counter[str] = Counter()
    i = j = launches = 0
    while i < len(old) or j < len(new):
        same = i < len(old) and j < len(new) and old[i] == new[j]
        edit = None if same else _edit_at(_around(old, new, i, j, launches))
        if not same and edit is None:
            return None
        launches += {"<<<": 1, ">>>": -1}.get(new[j], 0)
        i, j = (i + 1, j + 1) if edit is None else (i + len(edit.old), j + len(edit.new))
        if edit is not None:
            found[edit.name] += 1
    return found if launches == 0 or not found[_CHEVRONS] else None


def _around(old: Tokens, new: Tokens, i: int, j: int, launches: int) -> _Place:
    return _Place(old[max(0, i - _LOOK) : i], old[i : i + _LOOK], new[j : j + _LOOK], launches)


def _edit_at(place: _Place) -> _Edit | None:
    return next((edit for edit in _EDITS if edit.is_at(place)), None)
