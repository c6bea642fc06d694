"""Which parts of a C++ file ROCm builds, CUDA builds or both compile: `#if` evaluated under assumed macros."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocm3d.syntax import condition
from rocm3d.syntax.directives import CONDITIONAL, Directive, directives

# Defined by torch's BuildExtension, hipcc and clang in every ROCm compilation, host and device.
_DEFINED_FOR_ROCM = frozenset(
    {"USE_ROCM", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "__HIPCC__", "__HIP__", "TORCH_HIP_VERSION"}
)


def is_guard(macro: str) -> bool:
    """Whether a macro distinguishes ROCm from CUDA."""
    return macro in _DEFINED_FOR_ROCM or macro.startswith("__HIP")


def without_rocm(macro: str) -> bool | None:
    """Assumption for NVIDIA builds: no ROCm macro is defined; other macros are unknown."""
    return False if is_guard(macro) else None


def with_rocm(macro: str) -> bool | None:
    """Assumption for ROCm builds. Device-pass macros such as __HIP_DEVICE_COMPILE__ stay unknown."""
    return True if macro in _DEFINED_FOR_ROCM else None


@dataclass
class _Level:
    """One open #if chain during evaluation."""

    live: bool  # the current branch is retained
    parent_live: bool
    taken: bool = False  # a branch is certainly taken: later branches are dead
    open: bool = False  # a directive of this chain was retained, so its #endif must be too


@dataclass
class _Fold:
    """Collects the parts of a file that remain under the assumption."""

    data: bytes
    assume: condition.Assume
    literals: bool
    kept: list[tuple[int, int, bytes]] = field(default_factory=list)  # start, end, text
    levels: list[_Level] = field(default_factory=list)

    def run(self) -> None:
        at = 0
        for directive in directives(self.data):
            self._keep(at, directive.start)
            if directive.keyword in CONDITIONAL:
                self._conditional(directive)
            else:
                self._keep(directive.start, directive.end)
            at = directive.end
        self._keep(at, len(self.data))

    def _live(self) -> bool:
        return not self.levels or self.levels[-1].live

    def _keep(self, start: int, end: int, text: bytes | None = None) -> None:
        if start < end and self._live():
            self.kept.append((start, end, self.data[start:end] if text is None else text))

    def _conditional(self, directive: Directive) -> None:
        if directive.keyword in ("if", "ifdef", "ifndef"):
            self.levels.append(_Level(live=self._live(), parent_live=self._live()))
            self._branch(directive, self.levels[-1], first=True)
        elif self.levels:
            level = self.levels[-1]
            if directive.keyword == "endif":
                self._endif(directive, level)
            else:
                self._branch(directive, level, first=False)
        else:
            self._keep(directive.start, directive.end)  # unbalanced: retain it unchanged

    def _branch(self, directive: Directive, level: _Level, *, first: bool) -> None:
        node = self._node(directive)
        decided = condition.value(node)
        if not level.parent_live or level.taken or decided is False:
            level.live = False
            return
        level.live = True
        if decided is None:
            text = self._rewritten(directive, node, as_if=not level.open)
            self._keep(directive.start, directive.end, text)
            level.open = True
        else:
            if level.open and not first:
                ending = self.data[directive.start : directive.end]
                plain = ending if directive.keyword == "else" else _line(b"#else", ending)
                self._keep(directive.start, directive.end, plain)
            level.taken = True

    def _endif(self, directive: Directive, level: _Level) -> None:
        self.levels.pop()
        if level.open and level.parent_live:
            self._keep(directive.start, directive.end)

    def _node(self, directive: Directive) -> condition.Node:
        keyword, argument = directive.keyword, directive.argument
        if keyword == "else":
            return condition.Atom("1", True)
        if keyword in ("if", "elif"):
            return condition.parse(argument, self.assume, literals=self.literals)
        name = argument.split()[0] if argument.split() else ""
        atom = condition.Atom(f"defined({name})", self.assume(name))
        return condition.Not(atom) if keyword in ("ifndef", "elifndef") else atom

    def _rewritten(self, directive: Directive, node: condition.Node, *, as_if: bool) -> bytes | None:
        """The simplified directive, or None if its bytes stay unchanged: same keyword role and no known operand."""
        opens = directive.keyword in ("if", "ifdef", "ifndef")
        if opens == as_if and not condition.decides(node):
            return None
        word = b"#if " if as_if else b"#elif "
        return _line(word + condition.simplified(node).encode(), self.data[directive.start : directive.end])


def _line(text: bytes, like: bytes) -> bytes:
    ending = b"\r\n" if like.endswith(b"\r\n") else b"\n" if like.endswith(b"\n") else b""
    return text + ending


def folded(data: bytes, assume: condition.Assume) -> bytes:
    """The file under the assumption: known branches resolved, everything else byte for byte."""
    fold = _Fold(data, assume, literals=False)
    fold.run()
    return b"".join(text for _, _, text in fold.kept)


def shared_ranges(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges that both ROCm and CUDA builds may compile; findings elsewhere would be meaningless."""
    on, off = (_Fold(data, assume, literals=True) for assume in (with_rocm, without_rocm))
    on.run()
    off.run()
    return _intersection([(start, end) for start, end, _ in on.kept], [(start, end) for start, end, _ in off.kept])


def _intersection(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            found.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return found
