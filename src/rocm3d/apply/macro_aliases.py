"""Edits of C++ text through a macro that expands to the original text for CUDA and to another text for ROCm.

This works where no preprocessor directive is allowed: inside a macro's body or the arguments of AT_DISPATCH.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm3d.apply.guarded_lines import (
    Replacement,
    find_definition,
    guard_condition,
    guard_lines,
    helper_sources,
    offset_after_includes,
)
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cpp_tokens import ALIAS_PREFIX
from rocm3d.syntax.directives import blanked


@dataclass(frozen=True)
class MacroAlias:
    """A macro: its name without the prefix, its expansions, and the device helpers that the ROCm expansion calls."""

    name: str
    cuda: str
    rocm: str
    helpers: tuple[str, ...] = ()

    @property
    def macro_name(self) -> str:
        return ALIAS_PREFIX + self.name


@dataclass(frozen=True)
class AliasUse:
    """Bytes [start, end) of a file that an alias replaces. An empty range inserts the alias before the next token."""

    start: int
    end: int
    alias: MacroAlias


def insert_aliases(data: bytes, uses: Sequence[AliasUse], parameters: Parameters) -> bytes:
    """Replace each use by its alias, and define each alias once, at file scope above the first use."""
    if not uses:
        return data
    ordered = sorted(uses, key=lambda use: use.start)
    insert_at = offset_after_includes(data, ordered[0].start)
    aliases = dict.fromkeys(use.alias for use in ordered)
    missing = [alias for alias in aliases if not _is_defined(data, alias, ordered[0].start)]
    out, last = [data[:insert_at], _definitions(data, missing, parameters)], insert_at
    for use in ordered:
        out += [data[last : use.start], _alias_text(data, use)]
        last = use.end
    return b"".join([*out, data[last:]])


def guard_or_alias(data: bytes, spans: Sequence[tuple[int, int]], alias: MacroAlias, parameters: Parameters) -> bytes:
    """Replace bytes [start, end) on ROCm in a guarded copy of their lines or, where that is refused, by the alias."""
    try:
        return guard_lines(data, [Replacement(*span, alias.rocm.encode()) for span in spans], parameters)
    except RewriteRefusedError:
        return insert_aliases(data, [AliasUse(*span, alias) for span in spans], parameters)


def _alias_text(data: bytes, use: AliasUse) -> bytes:
    old, name = data[use.start : use.end].decode("utf-8", "replace"), use.alias.macro_name
    if "".join(old.split()) != "".join(use.alias.cuda.split()):
        raise RewriteRefusedError(f"{old} is not {use.alias.cuda}")
    if old:
        return name.encode()
    # The alias is only for ROCm: it precedes the next token and is empty for CUDA.
    touches = data[use.start - 1 : use.start].isalnum() or data[use.start - 1 : use.start] == b"_"
    return f"{' ' if touches else ''}{name} ".encode()


def _is_defined(data: bytes, alias: MacroAlias, before: int) -> bool:
    """Whether an earlier apply already defined the alias in this file."""
    definition = find_definition(blanked(data), alias.macro_name)
    if definition is not None and definition.start() > before:
        raise RewriteRefusedError(f"{alias.macro_name} is defined below its first use")
    return definition is not None


def _definitions(data: bytes, aliases: Sequence[MacroAlias], parameters: Parameters) -> bytes:
    if not aliases:
        return b""
    texts = helper_sources(need for alias in aliases for need in alias.helpers)
    rocm = "".join(f"#define {alias.macro_name} {alias.rocm}".rstrip() + "\n" for alias in aliases)
    cuda = "".join(f"#define {alias.macro_name} {alias.cuda}".rstrip() + "\n" for alias in aliases)
    block = f"#if {guard_condition(parameters).decode()}\n{texts}{rocm}#else\n{cuda}#endif\n"
    return block.encode().replace(b"\n", Text(data).newline)
