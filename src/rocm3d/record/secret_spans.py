"""Finds secrets in text: tokens of known formats, private keys, values beside a secret's name, passwords of programs.

Everything works on bytes, so that output in any encoding is searched. Each search starts from a literal text that is
cheap to find, because most output contains none, and no search looks further than MAX_SECRET bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rocm3d.model.secrets import PasswordProgram
from rocm3d.record.secret_names import NameKind, is_random, is_secret_value, name_kind, rules

HIDDEN = b"(redacted)"
MAX_SECRET = 8192
_MAX_NAME = 64
_MAX_PEM = 65536
# No token is shorter.
_LONG_WORD = re.compile(rb"[A-Za-z0-9_.:/+=~%-]{15,}")
# What may stand before a token: no letter or digit, except as the end of an escape (%3D, \n, \u003d, ESC[32m).
_TOKEN_START = rb"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[abfnrtv0])|(?<=\\u[0-9a-fA-F]{4})|(?<=[0-9]m))"
_HINTS = (
    b"token",
    b"secret",
    b"pass",
    b"pwd",
    b"key",
    b"auth",
    b"cred",
    b"cookie",
    b"webhook",
    b"connection",
    b"sig",
    b"login",
)
_NAME_HINT = re.compile(b"|".join((*_HINTS, b"bearer")))
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"
_QUOTE = rb"(?:\\*[\"'`]|%22|%27|&quot;|&#34;|&#39;)"
# name = value, name: value, name is: value, "name": "value", name=>value, name%3Dvalue, <name>value<, name[...] = value
_ASSIGNED = re.compile(
    rb"(?:\]|"
    + _QUOTE
    + rb"\]?)?"
    + _COLOUR
    + rb"(?:[ \t]+is(?=[ \t]*[:=]))?[ \t]*(=>|:=|==?|:|%3[dD]|%3[aA]|>|,(?=[ \t]*[\"']))"
    rb"(?:[ \t]|%20|\+(?=[\"']))*" + _COLOUR
)
_OPTION_VALUE = re.compile(_QUOTE + rb"?(?:[ \t]*,)?[ \t]+" + _COLOUR + rb"(?=[^-\s]|" + _QUOTE + rb"[^-])")
_BESIDE = re.compile(_QUOTE + rb"?[ \t]*(?:is|was|to|of)?[ \t:=(]*" + _COLOUR + _QUOTE + rb"?")
_QUOTED = re.compile(rb"[bBrRuUfF]?(" + _QUOTE + rb")((?:(?!\1)[^\r\n]){0,8192})")
_LIST_START = re.compile(rb"\[[ \t]*(?=[bBrRuUfF]?" + _QUOTE + rb")")
_LIST_COMMA = re.compile(_QUOTE + rb"[ \t]*,[ \t]*")
_BARE = re.compile(rb"[^\s\"'`,;&<>|)}\]\\\x1b]{1,8192}")
_BARE_PASSWORD = re.compile(rb"[^\s\"'`\x1b]{0,8191}[^\s\"'`\x1b,;)}\]>]")
_ELEMENT = re.compile(rb"[^<\r\n]{1,8192}")
_REST_OF_VALUE = re.compile(rb"[^\s\"'`]*")
_BESIDE_VALUE = re.compile(rb"[A-Za-z0-9+/_=~.-]{16,8192}")
_HEADER_VALUE = re.compile(rb"(?:[^\r\n\"'`\x1b\\]|\\(?![nr\"'])){1,8192}")
_SCHEME = re.compile(rb"[A-Za-z]+(?:[ \t]|%20|\+)+")
_BEARER_VALUE = re.compile(rb"(?:[ \t]|%20|\+)+([A-Za-z0-9._~+/=-]{1,8192})")
_WORD_BEFORE = re.compile(rb"([A-Za-z]+)[ \t_-]+\Z")
_URL_USER = re.compile(rb"(?::|%3[aA])(?:/|%2[fF]|\\/){2}([^/\s@\"'<>\\?#]{1,1024}?)(?:@|%40)")
_HARMLESS_USERS = frozenset({b"git", b"hg", b"ssh", b"svn", b"anonymous", b"(redacted)"})
_PEM_START = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# Without an end line: lines of base64, and the headers of an encrypted key.
_PEM_BODY = re.compile(
    rb"(?:(?:\s|\\[nr]|[\"',+>|])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment):[^\r\n]*))*"
    rb"(?:(?:\s|\\[nr])*[A-Za-z0-9+/]+={1,2})?"
)
_WORD = re.compile(rb"[^\s\"'`,\[\];|&]+")
_COMMAND_END = re.compile(rb"[\r\n;|&]")


@dataclass(frozen=True)
class SecretSpan:
    """Position of a secret. `kind` says how it was recognised, and contains nothing of it."""

    start: int
    end: int
    kind: str


def find_secrets(data: bytes, *, formats_only: bool = False) -> list[SecretSpan]:
    """All secrets, sorted and without overlaps. With `formats_only`, names and programs are not considered."""
    lower = data.lower()
    spans = [*_tokens(data), *_private_keys(data), *_url_users(data)]
    if not formats_only:
        spans += [*_named_values(data, lower), *_program_passwords(data, lower)]
    return [span for span in merged([_complete(data, span) for span in spans]) if data[span.start : span.end] != HIDDEN]


def _complete(data: bytes, span: SecretSpan) -> SecretSpan:
    """Extend a span that reached the limit of the searches to the end of the value."""
    if span.end - span.start < MAX_SECRET:
        return span
    rest = _REST_OF_VALUE.match(data, span.end)
    return SecretSpan(span.start, rest.end() if rest else span.end, span.kind)


def merged(spans: list[SecretSpan]) -> list[SecretSpan]:
    """Sorted; overlapping spans become one."""
    result: list[SecretSpan] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if result and span.start < result[-1].end:
            last = result[-1]
            result[-1] = SecretSpan(last.start, max(last.end, span.end), last.kind)
        elif span.end > span.start:
            result.append(span)
    return result


@cache
def _token_patterns() -> tuple[tuple[str, re.Pattern[bytes], tuple[bytes, ...]], ...]:
    return tuple(
        (
            entry.id,
            re.compile(_TOKEN_START + b"(?:" + entry.pattern.encode() + b")"),
            tuple(map(str.encode, entry.literals)),
        )
        for entry in rules().tokens
    )


def _tokens(data: bytes) -> Iterator[SecretSpan]:
    # Most lines have no word of that length: the literals are searched in the others only.
    long_words = b" ".join(_LONG_WORD.findall(data)).lower()
    if not long_words:
        return
    for kind, pattern, literals in _token_patterns():
        if any(literal in long_words for literal in literals):
            yield from (SecretSpan(*match.span(), f"a {kind} token") for match in pattern.finditer(data))


def _private_keys(data: bytes) -> Iterator[SecretSpan]:
    position = 0
    while (position := data.find(b"-----BEGIN ", position)) >= 0:
        begin = _PEM_START.match(data, position)
        if begin is None:
            position += 1
            continue
        end = data.find(b"-----END ", begin.end(), begin.end() + _MAX_PEM)
        body = _PEM_BODY.match(data, begin.end())
        assert body is not None
        stop = end if end >= 0 else body.end()
        yield SecretSpan(begin.end(), stop, "a private key")
        position = stop


def opens_private_key(data: bytes) -> int:
    """Where a private key begins that does not end in this text; -1 if there is none."""
    position = data.rfind(b"-----BEGIN ")
    if position < 0 or _PEM_START.match(data, position) is None:
        return -1
    return position if data.find(b"-----END ", position) < 0 else -1


def _url_users(data: bytes) -> Iterator[SecretSpan]:
    if b"@" not in data and b"%40" not in data:
        return
    for match in _URL_USER.finditer(data):
        if match[1].lower() not in _HARMLESS_USERS:
            yield SecretSpan(*match.span(1), "a password in a URL")


def _named_values(data: bytes, lower: bytes) -> Iterator[SecretSpan]:
    if b"bearer" not in lower and not any(hint in lower for hint in _HINTS):
        return
    end_of_last = 0
    for hint in _NAME_HINT.finditer(lower):
        if hint.start() < end_of_last:
            continue
        start, end = _name_around(data, *hint.span())
        end_of_last = end
        name = data[start:end].strip(b".").decode("latin-1")
        kind = name_kind(name)
        if kind == "weak" and _is_harmless_phrase(data, start):
            continue  # cache key, sort key
        if kind:
            yield from _adjacent_value(data, start, end, name, kind)


def _name_around(data: bytes, start: int, end: int) -> tuple[int, int]:
    first, last = max(0, start - _MAX_NAME), min(len(data), end + _MAX_NAME)
    while start > first and data[start - 1] in _NAME_BYTES:
        start -= 1
    while end < last and data[end] in _NAME_BYTES:
        end += 1
    # %22token and %3Ftoken: the letters of an escape are no part of the name.
    if start and data[start - 1 : start] == b"%":
        start = min(start + 2, end)
    return start, end


def _is_harmless_phrase(data: bytes, start: int) -> bool:
    word = _WORD_BEFORE.search(data, max(0, start - _MAX_NAME), start)
    return word is not None and word[1].lower().decode() in rules().names.harmless_before


def _adjacent_value(data: bytes, start: int, end: int, name: str, kind: NameKind) -> Iterator[SecretSpan]:
    label = f"the value of {name!r}" if len(name) < _MAX_NAME else "a value beside the name of a secret"
    assigned = _ASSIGNED.match(data, end)
    if assigned and assigned[1] == b">" and data[start - 1 : start] != b"<":
        assigned = None  # a comparison or a redirection, not an element of XML
    plain = name.lstrip("-").lower()
    if assigned and plain in rules().names.headers:
        yield from _header_value(data, assigned.end(), label)
        return
    if plain == "bearer" and (value := _BEARER_VALUE.match(data, end)):
        if len(value[1]) >= 16 or any(48 <= byte <= 57 for byte in value[1]):
            yield SecretSpan(*value.span(1), "a bearer token")
        return
    separator = assigned or (_OPTION_VALUE.match(data, end) if name.startswith("-") else None)
    if separator:
        is_element = assigned is not None and assigned[1] == b">"
        content = _ELEMENT.match(data, separator.end()) if is_element else None
        spans = [content.span()] if content else _assigned_values(data, separator.end(), kind)
        # ("token", "mask") may be two names.
        certain = kind if name.startswith("-") or separator[0].strip()[-1:] != b"," else "weak"
        secret = [SecretSpan(*span, label) for span in spans if is_secret_value(data[slice(*span)], certain, name)]
        if secret:
            yield from secret
            return
    adjacent = _BESIDE.match(data, end)
    value = _BESIDE_VALUE.match(data, adjacent.end()) if adjacent and adjacent.end() > end else None
    if value and is_random(value[0]):
        yield SecretSpan(*value.span(), label)


def _assigned_values(data: bytes, position: int, kind: NameKind) -> Iterator[tuple[int, int]]:
    """The value, or each text of a list in one line."""
    start, limit = _LIST_START.match(data, position), position + MAX_SECRET
    if start is None:
        value = _assigned_value(data, position, kind)
        if value:
            yield value
        return
    quoted = _QUOTED.match(data, start.end())
    while quoted and quoted.start() < limit:
        yield quoted.span(2)
        comma = _LIST_COMMA.match(data, quoted.end())
        quoted = _QUOTED.match(data, comma.end()) if comma else None


def _assigned_value(data: bytes, position: int, kind: NameKind) -> tuple[int, int] | None:
    quoted = _QUOTED.match(data, position)
    if quoted:
        return quoted.span(2)
    # Basic abc, Bearer abc: the secret is the second word.
    scheme = _SCHEME.match(data, position)
    if scheme and scheme[0].split(b"%")[0].strip(b" \t+").lower().decode() in rules().names.schemes:
        position = scheme.end()
    bare = (_BARE_PASSWORD if kind == "password" else _BARE).match(data, position)
    return bare.span() if bare else None


def _header_value(data: bytes, position: int, label: str) -> Iterator[SecretSpan]:
    if quote := re.compile(_QUOTE).match(data, position):
        position = quote.end()
    scheme = _SCHEME.match(data, position)
    if scheme and scheme[0].split(b"%")[0].strip(b" \t+").lower().decode() in rules().names.schemes:
        position = scheme.end()
    value = _HEADER_VALUE.match(data, position)
    if value and is_secret_value(value[0].strip(), "secret"):
        yield SecretSpan(position, value.end(), label)


@cache
def _programs() -> dict[bytes, PasswordProgram]:
    return {name.encode(): program for program in rules().programs for name in program.names}


@cache
def _program_hint() -> re.Pattern[bytes]:
    names = b"|".join(map(re.escape, sorted(_programs(), key=len, reverse=True)))
    return re.compile(rb"(?<![A-Za-z0-9_.-])(?:" + names + rb")(?![A-Za-z0-9_.-])")


def _program_passwords(data: bytes, lower: bytes) -> Iterator[SecretSpan]:
    if b" -" not in lower and b"login" not in lower and b"'-" not in lower and b'"-' not in lower:
        return
    for hint in _program_hint().finditer(data):
        stop = _COMMAND_END.search(data, hint.end())
        words = list(
            _WORD.finditer(data, hint.start(), min(stop.start() if stop else len(data), hint.end() + MAX_SECRET))
        )
        for number, start, end in password_words([word[0] for word in words]):
            offset = words[number].start()
            yield SecretSpan(offset + start, offset + end, f"a password of {words[0][0].decode('latin-1')}")


def password_words(words: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Word number, start and end of each password in the command line of the program that is the first word."""
    program = _programs().get(words[0].rpartition(b"/")[2]) if words else None
    if program is None:
        return
    for number, start in _password_starts(program, words, _first_argument(program, words)):
        if words[number][start:] != HIDDEN:
            yield number, start, len(words[number])


def _first_argument(program: PasswordProgram, words: Sequence[bytes]) -> int:
    """The first word after the subcommand."""
    if not program.after:
        return 1
    subcommands = {text.encode() for text in program.after}
    return next((number + 1 for number, word in enumerate(words) if number and word in subcommands), len(words))


def _password_starts(program: PasswordProgram, words: Sequence[bytes], first: int) -> Iterator[tuple[int, int]]:
    options = tuple(sorted(map(str.encode, program.options), key=len, reverse=True))
    hide_next = False
    for number in range(first, len(words)):
        word = words[number]
        option = next((option for option in options if word.startswith(option)), None)
        if hide_next:
            hide_next = False
            yield number, 0
        elif word == option:
            hide_next = program.separate
        elif option is not None:
            attached = _attached_value(word, option)
            if attached and (program.attached or option.startswith(b"--")):
                yield number, attached
        elif not word.startswith(b"-"):
            if program.positional:
                yield number, 0
            if program.positional or program.wrapper:
                return


def _attached_value(word: bytes, option: bytes) -> int:
    """Where the value of `-pX`, `-p=X` or `--option=X` begins; 0 if the word is another option."""
    has_equals = word[len(option) : len(option) + 1] == b"="
    is_short = not option.startswith(b"--") and len(option) == len(b"-p")
    return len(option) + has_equals if has_equals or is_short else 0
