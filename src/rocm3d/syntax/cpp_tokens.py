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

ALIAS_PREFIX = "ROCM3D_"
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


class TokenComparisonError(Exception):
    """The token streams cannot be compared; the message is the reason."""


@dataclass(frozen=True)
class PortAlias:
    """A macro of a port; `parameters` is None for a macro without parentheses."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


def token_stream(data: bytes, original: bytes) -> list[str]:
    """Tokens with normalised `#if` conditions. Aliases that the original does not define are expanded and removed."""
    aliases: dict[str, PortAlias] = {}
    tokens: list[str] = []
    offset = 0
    for directive in directives(data):
        tokens += _expand_aliases(_tokens(data[offset : directive.start]), aliases)
        words = _tokens(directive.argument.encode())
        if directive.keyword == "define" and words and words[0].startswith(ALIAS_PREFIX):
            _define_alias(words, directive.argument, aliases, original)
        elif directive.keyword == "undef" and words and words[0] in aliases:
            raise TokenComparisonError(f"{words[0]} is undefined with #undef")
        else:
            tokens += ["#", *_normalised_condition(directive.keyword, _expand_aliases(words, aliases)), "\n"]
        offset = directive.end
    return [*tokens, *_expand_aliases(_tokens(data[offset:]), aliases)]


def differs_only_as_allowed(old: bytes, new: bytes, allowed_marks: Sequence[bytes] = ()) -> bool:
    """Whether lines differ only in alias definitions, alias uses, and the spelling of conditions.

    Lines that contain one of `allowed_marks` may differ too; their tokens are compared elsewhere.
    """
    lines, offset = b"", 0
    conditions = set()
    for directive in directives(new):
        words = directive.argument.split("(")[0].split()
        lines += new[offset : directive.start]
        if directive.keyword in ("if", "elif"):
            conditions.add(new[directive.start : directive.end])
        if directive.keyword != "define" or not words or not words[0].startswith(ALIAS_PREFIX):
            lines += new[directive.start : directive.end]
        offset = directive.end
    before, after = old.splitlines(keepends=True), (lines + new[offset:]).splitlines(keepends=True)
    return len(before) == len(after) and all(
        old_line == new_line
        or new_line in conditions
        or any(mark in new_line for mark in (ALIAS_PREFIX.encode(), *allowed_marks))
        for old_line, new_line in zip(before, after, strict=True)
    )


def _tokens(text: bytes) -> list[str]:
    matches = _TOKEN.finditer(text.decode("utf-8", "surrogateescape"))
    return [match.group() for match in matches if match.lastgroup != "gap"]


def _normalised_condition(keyword: str, words: Sequence[str]) -> list[str]:
    """Normalise `#ifdef X`, `#if defined X` and `#if defined(X)` to the last form."""
    if keyword in ("ifdef", "ifndef"):
        condition = ["defined", "(", *words[:1], ")"]
        return ["if", *(["!"] if keyword == "ifndef" else []), *condition]
    if keyword not in ("if", "elif"):
        return [keyword, *words]
    normalised: list[str] = []
    index = 0
    while index < len(words):
        if words[index] == "defined" and index + 1 < len(words) and words[index + 1] != "(":
            normalised += ["defined", "(", words[index + 1], ")"]
            index += 2
        else:
            normalised.append(words[index])
            index += 1
    return [keyword, *normalised]


def _define_alias(words: list[str], argument: str, aliases: dict[str, PortAlias], original: bytes) -> None:
    name, body = words[0], words[1:]
    if name in aliases or name.encode() in original:
        raise TokenComparisonError(f"{name} is defined more than once")
    parameters: tuple[str, ...] | None = None
    # A parameter list must follow the name without a space.
    if argument.startswith(f"{name}("):
        end = body.index(")") if ")" in body else 0
        parameters = tuple(token for token in body[1:end] if token != ",")
        body = body[end + 1 :]
    if any(token in ("#", "##", "__VA_ARGS__") or token.startswith(ALIAS_PREFIX) for token in body):
        raise TokenComparisonError(f"{name} is not a plain text macro")
    aliases[name] = PortAlias(parameters, tuple(body))


def _expand_aliases(words: list[str], aliases: Mapping[str, PortAlias]) -> list[str]:
    if not aliases or not any(token in aliases for token in words):
        return words
    expanded: list[str] = []
    index = 0
    while index < len(words):
        alias = aliases.get(words[index])
        if alias is None:
            expanded.append(words[index])
            index += 1
        elif alias.parameters is None:
            expanded += alias.body
            index += 1
        else:
            arguments, index = _arguments(words, index)
            expanded += _substitute_arguments(alias, [_expand_aliases(part, aliases) for part in arguments])
    return expanded


def _substitute_arguments(alias: PortAlias, arguments: list[list[str]]) -> Iterator[str]:
    assert alias.parameters is not None
    if len(arguments) != len(alias.parameters):
        raise TokenComparisonError("an alias is used with the wrong number of arguments")
    argument_by_name = dict(zip(alias.parameters, arguments, strict=True))
    for token in alias.body:
        yield from argument_by_name.get(token, [token])


def _arguments(words: list[str], name_index: int) -> tuple[list[list[str]], int]:
    """The arguments of a macro call, and the index after its closing parenthesis."""
    if name_index + 1 >= len(words) or words[name_index + 1] != "(":
        raise TokenComparisonError(f"{words[name_index]} is used without arguments")
    parts: list[list[str]] = [[]]
    depth = 0
    for index in range(name_index + 1, len(words)):
        token = words[index]
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            return (parts if parts != [[]] else []), index + 1
        if token == "," and depth == 1:
            parts.append([])
        elif not (token == "(" and depth == 1 and index == name_index + 1):
            parts[-1].append(token)
    raise TokenComparisonError(f"the call of {words[name_index]} has no closing parenthesis")
