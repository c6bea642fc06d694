"""Which parts of a C++ file ROCm builds, CUDA builds or both compile: `#if` evaluated under assumed macros."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocm3d.syntax import condition
from rocm3d.syntax.directives import CONDITIONAL, Directive, directives

# Defined by torch's BuildExtension, hipcc and clang in every ROCm compilation, host and device.
_DEFINED_FOR_ROCM = frozenset(
    {"USE_ROCM", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "__HIPCC__", "__HIP__", "TORCH_HIP_VERSION"}
)


def is_rocm_macro(macro: str) -> bool:
    """Whether a macro distinguishes ROCm from CUDA."""
    return macro in _DEFINED_FOR_ROCM or macro.startswith("__HIP")


def assume_cuda(macro: str) -> bool | None:
    """Assumption for NVIDIA builds: no ROCm macro is defined; other macros are unknown."""
    return False if is_rocm_macro(macro) else None


def assume_rocm(macro: str) -> bool | None:
    """Assumption for ROCm builds. Device-pass macros such as __HIP_DEVICE_COMPILE__ stay unknown."""
    return True if macro in _DEFINED_FOR_ROCM else None


@dataclass
class _OpenChain:
    """One open #if chain during evaluation."""

    is_live: bool  # the current branch is retained
    is_parent_live: bool
    is_taken: bool = False  # a branch is certainly taken: later branches are dead
    needs_endif: bool = False  # a directive of this chain was retained, so its #endif must be too


@dataclass
class _Folder:
    """Collects the parts of a file that remain under the assumption."""

    data: bytes
    assume: condition.MacroAssumption
    literals: bool
    retained: list[tuple[int, int, bytes]] = field(default_factory=list)  # start, end, text
    open_chains: list[_OpenChain] = field(default_factory=list)

    def run(self) -> None:
        offset = 0
        for directive in directives(self.data):
            self._retain(offset, directive.start)
            if directive.keyword in CONDITIONAL:
                self._conditional(directive)
            else:
                self._retain(directive.start, directive.end)
            offset = directive.end
        self._retain(offset, len(self.data))

    def _is_live(self) -> bool:
        return not self.open_chains or self.open_chains[-1].is_live

    def _retain(self, start: int, end: int, text: bytes | None = None) -> None:
        if start < end and self._is_live():
            self.retained.append((start, end, self.data[start:end] if text is None else text))

    def _conditional(self, directive: Directive) -> None:
        if directive.keyword in ("if", "ifdef", "ifndef"):
            self.open_chains.append(_OpenChain(is_live=self._is_live(), is_parent_live=self._is_live()))
            self._branch(directive, self.open_chains[-1], first=True)
        elif self.open_chains:
            chain = self.open_chains[-1]
            if directive.keyword == "endif":
                self._endif(directive, chain)
            else:
                self._branch(directive, chain, first=False)
        else:
            self._retain(directive.start, directive.end)  # unbalanced: retain it unchanged

    def _branch(self, directive: Directive, chain: _OpenChain, *, first: bool) -> None:
        node = self._condition_of(directive)
        value = condition.evaluate(node)
        if not chain.is_parent_live or chain.is_taken or value is False:
            chain.is_live = False
            return
        chain.is_live = True
        if value is None:
            text = self._simplified_directive(directive, node, as_if=not chain.needs_endif)
            self._retain(directive.start, directive.end, text)
            chain.needs_endif = True
        else:
            if chain.needs_endif and not first:
                original = self.data[directive.start : directive.end]
                else_directive = original if directive.keyword == "else" else _with_newline_of(b"#else", original)
                self._retain(directive.start, directive.end, else_directive)
            chain.is_taken = True

    def _endif(self, directive: Directive, chain: _OpenChain) -> None:
        self.open_chains.pop()
        if chain.needs_endif and chain.is_parent_live:
            self._retain(directive.start, directive.end)

    def _condition_of(self, directive: Directive) -> condition.ConditionNode:
        keyword, argument = directive.keyword, directive.argument
        if keyword == "else":
            return condition.Atom("1", True)
        if keyword in ("if", "elif"):
            return condition.parse(argument, self.assume, literals=self.literals)
        name = argument.split()[0] if argument.split() else ""
        atom = condition.Atom(f"defined({name})", self.assume(name))
        return condition.Not(atom) if keyword in ("ifndef", "elifndef") else atom

    def _simplified_directive(
        self, directive: Directive, node: condition.ConditionNode, *, as_if: bool
    ) -> bytes | None:
        """The simplified directive, or None if its bytes stay unchanged: same keyword role and no known operand."""
        opens = directive.keyword in ("if", "ifdef", "ifndef")
        if opens == as_if and not condition.has_known_part(node):
            return None
        keyword = b"#if " if as_if else b"#elif "
        return _with_newline_of(
            keyword + condition.simplified(node).encode(), self.data[directive.start : directive.end]
        )


def _with_newline_of(text: bytes, original: bytes) -> bytes:
    ending = b"\r\n" if original.endswith(b"\r\n") else b"\n" if original.endswith(b"\n") else b""
    return text + ending


def fold_cpp(data: bytes, assume: condition.MacroAssumption) -> bytes:
    """The file under the assumption: known branches resolved, everything else byte for byte."""
    fold = _Folder(data, assume, literals=False)
    fold.run()
    return b"".join(text for _, _, text in fold.retained)


def shared_ranges(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges that both ROCm and CUDA builds may compile; findings elsewhere would be meaningless."""
    rocm_fold, cuda_fold = (_Folder(data, assume, literals=True) for assume in (assume_rocm, assume_cuda))
    rocm_fold.run()
    cuda_fold.run()
    return _intersection(
        [(start, end) for start, end, _ in rocm_fold.retained], [(start, end) for start, end, _ in cuda_fold.retained]
    )


def _intersection(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    overlaps: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            overlaps.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return overlaps
