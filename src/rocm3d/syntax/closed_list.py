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

_WINDOW = 8  # tokens; no edit is longer
_NAME_OR_CHEVRONS = re.compile(r"[A-Za-z_]\w*|>+")


@dataclass(frozen=True)
class _Difference:
    """The position where two token streams differ: old tokens before it, and tokens after it in each stream."""

    before: Tokens
    old: Tokens
    new: Tokens
    launches: int  # kernel launches still open in the new stream


@dataclass(frozen=True)
class _ListedEdit:
    """A replacement of tokens that is allowed where `fits` is true."""

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    fits: Callable[[_Difference], bool] = lambda _: True

    def applies_to(self, difference: _Difference) -> bool:
        tokens_match = (
            tuple(difference.old[: len(self.old)]) == self.old and tuple(difference.new[: len(self.new)]) == self.new
        )
        return tokens_match and self.fits(difference)


def _opens_launch(difference: _Difference) -> bool:
    return bool(difference.before) and _NAME_OR_CHEVRONS.fullmatch(difference.before[-1]) is not None


def _closes_launch(difference: _Difference) -> bool:
    """Whether chevrons before call arguments close an open launch; otherwise they may end nested templates."""
    return difference.new[1:2] == ["("] and difference.launches == 1


def _casts_kernel(difference: _Difference) -> bool:
    return difference.before[-1:] == ["("] and "".join(difference.before[-2:-1]).startswith("cudaFunc")


def _adds_host(difference: _Difference) -> bool:
    return difference.old[:1] == ["__device__"] and difference.before[-1:] != ["__host__"]


_CHEVRONS, _CAST, _HEADER, _HOST = "launch chevrons", "cast of a kernel", "<cfloat>", "__host__ on a member"
_EDITS = (
    *(_ListedEdit(_CHEVRONS, old, ("<<<",), _opens_launch) for old in (("<<", "<"), ("<", "<<"), ("<", "<", "<"))),
    *(_ListedEdit(_CHEVRONS, old, (">>>",), _closes_launch) for old in ((">>", ">"), (">", ">>"), (">", ">", ">"))),
    _ListedEdit(_CAST, (), ("(", "const", "void", "*", ")"), _casts_kernel),
    _ListedEdit(_HEADER, (), ("#", "include", "<", "cfloat", ">", "\n")),
    _ListedEdit(_HOST, (), ("__host__",), _adds_host),
)


# Every line changed by one of the edits contains one of these.
EDIT_MARKERS = (b"<<<", b">>>", b"void", b"__host__")
_INCLUDE = b"#include <cfloat>"


def without_added_include(old: bytes, new: bytes) -> bytes:
    """The new text without an added `#include <cfloat>` line."""
    if _INCLUDE in old:
        return new
    return b"".join(line for line in new.splitlines(keepends=True) if line.strip() != _INCLUDE)


def listed_edits(old: Tokens, new: Tokens) -> Counter[str] | None:
    """Count of each listed edit that turns one stream into the other; None if anything else differs."""
    counts: Counter[str] = Counter()
    i = j = launches = 0
    while i < len(old) or j < len(new):
        tokens_equal = i < len(old) and j < len(new) and old[i] == new[j]
        edit = None if tokens_equal else _edit_at(_difference_at(old, new, i, j, launches))
        if not tokens_equal and edit is None:
            return None
        launches += {"<<<": 1, ">>>": -1}.get(new[j], 0)
        i, j = (i + 1, j + 1) if edit is None else (i + len(edit.old), j + len(edit.new))
        if edit is not None:
            counts[edit.name] += 1
    return counts if launches == 0 or not counts[_CHEVRONS] else None


def _difference_at(old: Tokens, new: Tokens, i: int, j: int, launches: int) -> _Difference:
    return _Difference(old[max(0, i - _WINDOW) : i], old[i : i + _WINDOW], new[j : j + _WINDOW], launches)


def _edit_at(difference: _Difference) -> _ListedEdit | None:
    return next((edit for edit in _EDITS if edit.applies_to(difference)), None)
