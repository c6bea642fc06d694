"""C++ text as a stream of preprocessing tokens, with the macro aliases of a port expanded.

An alias is a macro named ROCM3D_*. The CUDA branch of its guard defines it as the text that it replaced.

The closed list has the edits that cannot be guarded and that nvcc compiles to the same program: launch chevrons without
spaces, a cast of the kernel passed to cudaFunc*, an include of <cfloat>, and `__host__` before a member's `__device__`.
This module proves that nothing else changed; only nvcc can prove that the code is the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rocm3d.syntax.directives import directives

Tokens = Sequence[str]

ALIAS_PREFIX = "ROCM3D_"
# Every line changed by an edit of the closed list contains one of these.
EDIT_MARKERS = (b"<<<", b">>>", b"void", b"__host__")
_INCLUDE = b"#include <cfloat>"
_WINDOW = 8  # tokens; no edit of the closed list is longer
_NAME_OR_CHEVRONS = re.compile(r"[A-Za-z_]\w*|>+")
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
        return ["if", *(["!"] if keyword == "ifndef" else []), "defined", "(", *words[:1], ")"]
    if keyword not in ("if", "elif"):
        return [keyword, *words]
    normalised = [keyword]
    for previous, word in zip(["", *words], words, strict=False):
        normalised += ["(", word, ")"] if previous == "defined" and word != "(" else [word]
    return normalised


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
        if alias is None or alias.parameters is None:
            expanded += [words[index]] if alias is None else alias.body
            index += 1
            continue
        parts, index = _arguments(words, index)
        arguments = [_expand_aliases(part, aliases) for part in parts]
        if len(arguments) != len(alias.parameters):
            raise TokenComparisonError("an alias is used with the wrong number of arguments")
        argument_by_name = dict(zip(alias.parameters, arguments, strict=True))
        for token in alias.body:
            expanded += argument_by_name.get(token, [token])
    return expanded


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
        edit: _ListedEdit | None = None
        if old[i : i + 1] != new[j : j + 1]:
            difference = _Difference(old[max(0, i - _WINDOW) : i], old[i : i + _WINDOW], new[j : j + _WINDOW], launches)
            edit = next((listed for listed in _EDITS if listed.applies_to(difference)), None)
            if edit is None:
                return None
            counts[edit.name] += 1
        launches += {"<<<": 1, ">>>": -1}.get(new[j], 0)
        i, j = (i + 1, j + 1) if edit is None else (i + len(edit.old), j + len(edit.new))
    return counts if launches == 0 or not counts[_CHEVRONS] else None
