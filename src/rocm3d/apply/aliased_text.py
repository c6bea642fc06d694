"""Edits of C++ text through a macro that expands to the original text for CUDA and to another text for ROCm.

This works where no preprocessor directive is allowed: inside a macro's body or the arguments of AT_DISPATCH.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.device_text import helpers
from rocm3d.apply.guarded_lines import after_includes, guard
from rocm3d.apply.rewrite import Refuse
from rocm3d.model.text import Text
from rocm3d.syntax.cpp_tokens import ALIAS_PREFIX
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters


@dataclass(frozen=True)
class Alias:
    """A macro: its name without the prefix, its expansions, and the device helpers that the ROCm expansion calls."""

    name: str
    cuda: str
    rocm: str
    needs: tuple[str, ...] = ()

    @property
    def macro(self) -> str:
        return ALIAS_PREFIX + self.name


@dataclass(frozen=True)
class Use:
    """Bytes [start, end) of a file that an alias replaces. An empty range inserts the alias before the next token."""

    start: int
    end: int
    alias: Alias


def with_aliases(data: bytes, uses: Sequence[Use], parameters: Parameters) -> bytes:
    """Replace each use by its alias, and define each alias once, at file scope above the first use."""
    if not uses:
        return data
    ordered = sorted(uses, key=lambda use: use.start)
    at = after_includes(data, ordered[0].start)
    aliases = dict.fromkeys(use.alias for use in ordered)
    missing = [alias for alias in aliases if not _is_defined(data, alias, ordered[0].start)]
    out, last = [data[:at], _definitions(data, missing, parameters)], at
    for use in ordered:
        out += [data[last : use.start], _written(data, use)]
        last = use.end
    return b"".join([*out, data[last:]])


def _written(data: bytes, use: Use) -> bytes:
    old, name = data[use.start : use.end].decode("utf-8", "replace"), use.alias.macro
    if "".join(old.split()) != "".join(use.alias.cuda.split()):
        raise Refuse(f"{old} is not {use.alias.cuda}")
    if old:
        return name.encode()
    # The alias is only for ROCm: it precedes the next token and is empty for CUDA.
    touches = data[use.start - 1 : use.start].isalnum() or data[use.start - 1 : use.start] == b"_"
    return f"{' ' if touches else ''}{name} ".encode()


def _is_defined(data: bytes, alias: Alias, before: int) -> bool:
    """Whether an earlier apply already defined the alias in this file."""
    found = re.search(rb"#[ \t]*define[ \t]+" + alias.macro.encode() + rb"\b", blanked(data))
    if found is not None and found.start() > before:
        raise Refuse(f"{alias.macro} is defined below its first use")
    return found is not None


def _definitions(data: bytes, aliases: Sequence[Alias], parameters: Parameters) -> bytes:
    if not aliases:
        return b""
    texts = helpers(need for alias in aliases for need in alias.needs)
    rocm = "".join(f"#define {alias.macro} {alias.rocm}".rstrip() + "\n" for alias in aliases)
    cuda = "".join(f"#define {alias.macro} {alias.cuda}".rstrip() + "\n" for alias in aliases)
    block = f"#if {guard(parameters).decode()}\n{texts}{rocm}#else\n{cuda}#endif\n"
    return block.encode().replace(b"\n", Text(data).newline)
