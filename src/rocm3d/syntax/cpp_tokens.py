"""C++ text as a stream of preprocessing tokens, with the macro aliases of a port expanded.

An alias is a macro named ROCM3D_*. The CUDA branch of its guard defines it as the text that it replaced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.syntax.directives import directives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PREFIX = "ROCM3D_"
_TOKEN = re.compile(
    r"""
      (?P<gap>\s+|\\\r?\n|/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*)
    | (?P<raw>\b(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.])*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><<<|>>>|<<=|>>=|\.\.\.|->\*|<=>|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Unclear(Exception):  # noqa: N818
    """The token streams cannot be compared; the message is the reason."""


@dataclass(frozen=True)
class Alias:
    """A macro of a port; `parameters` is None for a macro without parentheses."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


def stream(data: bytes, original: bytes) -> list[str]:
    """Tokens with normalised `#if` conditions. Aliases that the original does not define are expanded and removed."""
    aliases: dict[str, Alias] = {}
    out: list[str] = []
    at = 0
    for directive in directives(data):
        out += _expanded(_tokens(data[at : directive.start]), aliases)
        words = _tokens(directive.argument.encode())
        if directive.keyword == "define" and words and words[0].startswith(PREFIX):
            _define(words, directive.argument, aliases, original)
        elif directive.keyword == "undef" and words and words[0] in aliases:
            raise Unclear(f"{words[0]} is undefined with #undef")
        else:
            out += ["#", *_spelt(directive.keyword, _expanded(words, aliases)), "\n"]
        at = directive.end
    return [*out, *_expanded(_tokens(data[at:]), aliases)]


def differs_only_by_design(old: bytes, new: bytes, marks: Sequence[bytes] = ()) -> bool:
    """Whether lines differ only in alias definitions, alias uses, and the spelling of conditions.

    Lines that contain one of `allowed_marks` may differ too; their tokens are compared elsewhere.
    """
    lines, at = b"", 0
    conditions = set()
    for directive in directives(new):
        words = directive.argument.split("(")[0].split()
        lines += new[at : directive.start]
        if directive.keyword in ("if", "elif"):
            conditions.add(new[directive.start : directive.end])
        if directive.keyword != "define" or not words or not words[0].startswith(PREFIX):
            lines += new[directive.start : directive.end]
        at = directive.end
    before, after = old.splitlines(keepends=True), (lines + new[at:]).splitlines(keepends=True)
    return len(before) == len(after) and all(
        one == other or other in conditions or any(mark in other for mark in (PREFIX.encode(), *marks))
        for one, other in zip(before, after, strict=True)
    )


def _tokens(text: bytes) -> list[str]:
    found = _TOKEN.finditer(text.decode("utf-8", "surrogateescape"))
    return [match.group() for match in found if match.lastgroup != "gap"]


def _spelt(keyword: str, words: Sequence[str]) -> list[str]:
    """Normalise `#ifdef X`, `#if defined X` and `#if defined(X)` to the last form."""
    if keyword in ("ifdef", "ifndef"):
        asked = ["defined", "(", *words[:1], ")"]
        return ["if", *(["!"] if keyword == "ifndef" else []), *asked]
    if keyword not in ("if", "elif"):
        return [keyword, *words]
    spelt: list[str] = []
    at = 0
    while at < len(words):
        if words[at] == "defined" and at + 1 < len(words) and words[at + 1] != "(":
            spelt += ["defined", "(", words[at + 1], ")"]
            at += 2
        else:
            spelt.append(words[at])
            at += 1
    return [keyword, *spelt]


def _define(words: list[str], argument: str, aliases: dict[str, Alias], original: bytes) -> None:
    name, rest = words[0], words[1:]
    if name in aliases or name.encode() in original:
        raise Unclear(f"{name} is defined more than once")
    parameters: tuple[str, ...] | None = None
    # A parameter list must follow the name without a space.
    if argument.startswith(f"{name}("):
        end = rest.index(")") if ")" in rest else 0
        parameters = tuple(word for word in rest[1:end] if word != ",")
        rest = rest[end + 1 :]
    if any(word in ("#", "##", "__VA_ARGS__") or word.startswith(PREFIX) for word in rest):
        raise Unclear(f"{name} is not a plain text macro")
    aliases[name] = Alias(parameters, tuple(rest))


def _expanded(words: list[str], aliases: Mapping[str, Alias]) -> list[str]:
    if not aliases or not any(word in aliases for word in words):
        return words
    out: list[str] = []
    at = 0
    while at < len(words):
        alias = aliases.get(words[at])
        if alias is None:
            out.append(words[at])
            at += 1
        elif alias.parameters is None:
            out += alias.body
            at += 1
        else:
            arguments, at = _arguments(words, at)
            out += _filled(alias, [_expanded(part, aliases) for part in arguments])
    return out


def _filled(alias: Alias, arguments: list[list[str]]) -> Iterator[str]:
    assert alias.parameters is not None
    if len(arguments) != len(alias.parameters):
        raise Unclear("an alias is used with the wrong number of arguments")
    given = dict(zip(alias.parameters, arguments, strict=True))
    for word in alias.body:
        yield from given.get(word, [word])


def _arguments(words: list[str], at: int) -> tuple[list[list[str]], int]:
    """The arguments of a macro call, and the index after its closing parenthesis."""
    if at + 1 >= len(words) or words[at + 1] != "(":
        raise Unclear(f"{words[at]} is used without arguments")
    parts: list[list[str]] = [[]]
    depth = 0
    for place in range(at + 1, len(words)):
        word = words[place]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            return (parts if parts != [[]] else []), place + 1
        if word == "," and depth == 1:
            parts.append([])
        elif not (word == "(" and depth == 1 and place == at + 1):
            parts[-1].append(word)
    raise Unclear(f"the call of {words[at]} has no closing parenthesis")
