"""Removes secrets from records, texts and output.

A secret is what `secret_spans` finds in a text, and every value that a run was started with as a secret: an argument or
a variable with the name of one. Such values are removed wherever they occur, also quoted or encoded.
"""

from __future__ import annotations

import base64
import html
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Literal, TypeVar, get_origin
from urllib.parse import quote, quote_plus

from rocm3d.model.base import PublicText, Record
from rocm3d.record import secret_spans
from rocm3d.record.secret_names import is_harmless_variable, name_kind, rules
from rocm3d.record.secret_spans import SecretSpan, find_secrets, merged, password_words

HIDDEN = secret_spans.HIDDEN.decode()
# A shorter value is hidden only beside its name: it may be part of any word.
MIN_VALUE = 6
_MAX_PASSES = 20

RecordT = TypeVar("RecordT", bound=Record)


class Redactor:
    """Removes secrets; `values` are removed wherever they occur."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values = frozenset(value for value in _with_lines(values) if _is_distinct(value))

    @classmethod
    def for_run(cls, command: Sequence[str], environment: Mapping[str, str]) -> Redactor:
        """Knows the secrets in the command line and the environment of a run."""
        values = [_encode(argument)[start:end] for argument, spans in _argument_spans(command) for start, end in spans]
        for name, value in environment.items():
            if name_kind(name) in ("secret", "password") and not is_harmless_variable(value) and not _is_path(value):
                values.append(_encode(value))
            values += [_encode(value)[span.start : span.end] for span in find_secrets(_encode(value))]
        # The password of user:password is a secret by itself.
        values += [value.partition(b":")[2] for value in values]
        return cls(map(_decode, values))

    @cached_property
    def _encodings(self) -> tuple[bytes, ...]:
        """All spellings of the values, the longest first."""
        spellings = {spelling for value in self.values for spelling in _spellings(value)}
        return tuple(sorted(spellings, key=len, reverse=True))

    def find(self, data: bytes, *, formats_only: bool = False) -> list[SecretSpan]:
        """Position and kind of every secret."""
        spans = find_secrets(data, formats_only=formats_only)
        known = [*self._known(data)]
        spans = merged([*known, *spans]) if known else spans
        return [span for span in spans if data[span.start : span.end] != secret_spans.HIDDEN]

    def _known(self, data: bytes) -> Iterable[SecretSpan]:
        for spelling in self._encodings:
            position = -1
            while (position := data.find(spelling, position + 1)) >= 0:
                yield SecretSpan(position, position + len(spelling), "a secret of the command or the environment")

    def data(self, data: bytes) -> bytes:
        """The bytes without secrets."""
        # What is left around a removed secret may be one. Redacting twice must change nothing: bundles are searched
        # again.
        for _ in range(_MAX_PASSES):
            spans = self.find(data)
            if not spans:
                break
            parts, position = [], 0
            for span in spans:
                parts += [data[position : span.start], secret_spans.HIDDEN]
                position = span.end
            data = b"".join([*parts, data[position:]])
        return data

    def text(self, value: str) -> str:
        """The text without secrets."""
        return _decode(self.data(_encode(value)))

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Environment variables, sorted: the complete value is hidden if the name is a secret's."""
        return {
            self.text(name): HIDDEN if name_kind(name) in ("secret", "password") and value else self.text(value)
            for name, value in sorted(environment.items())
        }

    def arguments(self, command: Sequence[str]) -> tuple[str, ...]:
        """A command line, including `--token X`, `--token=X`, `TOKEN=X` and `mysql -pX`."""
        words = tuple(command)
        for _ in range(_MAX_PASSES):
            redacted = self._arguments(words)
            if redacted == words:
                break
            words = redacted
        return words

    def _arguments(self, command: Sequence[str]) -> tuple[str, ...]:
        redacted = []
        for argument, spans in _argument_spans(command):
            data, parts, position = _encode(argument), list[bytes](), 0
            for start, end in _sorted(spans):
                parts += [data[position:start], secret_spans.HIDDEN]
                position = end
            redacted.append(self.text(_decode(b"".join([*parts, data[position:]]))))
        return tuple(redacted)

    def paths(self, paths: Iterable[str]) -> dict[str, str]:
        """The redacted name of every path; different paths stay different."""
        names: dict[str, str] = {}
        for path in dict.fromkeys(paths):
            name, number, used = self.text(path), 1, set(names.values())
            plain = PurePosixPath(name)
            while name in used:
                number += 1
                name = str(plain.with_name(f"{plain.stem}-{number}{plain.suffix}"))
            names[path] = name
        return names

    def record(self, record: RecordT) -> RecordT:
        """A record without secrets. Fields of type Digest, Commit or PublicText are not searched."""
        changes = {}
        for name, field in type(record).model_fields.items():
            if any(isinstance(item, PublicText) for item in field.metadata) or get_origin(field.annotation) is Literal:
                continue
            value = getattr(record, name)
            redacted = self.arguments(value) if name == "command" else self._value(value)
            if redacted != value:
                changes[name] = redacted
        return record.model_copy(update=changes) if changes else record

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Record):
            return self.record(value)
        if isinstance(value, tuple):
            return tuple(self._value(item) for item in value)
        if isinstance(value, dict):
            if all(isinstance(item, str) for item in value.values()):
                return self.variables(value)
            return {self.text(key): self._value(item) for key, item in value.items()}
        return value


def text(value: str) -> str:
    """Remove what has the format of a secret, or stands beside the name of one."""
    return Redactor().text(value)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Redact environment variables."""
    return Redactor().variables(environment)


def _argument_spans(command: Sequence[str]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Every argument with the positions of its secrets in UTF-8, which may overlap."""
    words = [_encode(argument) for argument in command]
    spans: list[list[tuple[int, int]]] = [[(span.start, span.end) for span in find_secrets(word)] for word in words]
    hide = False
    for number, word in enumerate(words):
        name, equals, value = word.partition(b"=")
        if hide and not (word.startswith(b"-") and len(word) > 1):
            hide = word.lower().decode("latin-1") in rules().names.schemes
            if not hide and word:
                spans[number].append((0, len(word)))
            continue
        hide = False
        plain = name.rstrip(b":").decode("latin-1")
        kind = name_kind(plain) if b" " not in name and b"\n" not in name else ""
        if kind not in ("secret", "password"):
            continue
        if equals and value:
            spans[number].append((len(name) + 1, len(word)))
        elif not equals:
            hide = plain.startswith("-") or name.endswith(b":")
    for first in range(len(words)):
        for number, start, end in password_words(words[first:]):
            spans[first + number].append((start, end))
    return list(zip(command, spans, strict=True))


def _sorted(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in merged([SecretSpan(start, end, "") for start, end in spans])]


def _with_lines(values: Iterable[str]) -> Iterable[str]:
    """Each value, and each line of a value with several: output is searched line by line."""
    for value in values:
        yield value
        if "\n" in value:
            yield from (line.strip() for line in value.splitlines() if not line.startswith("-----"))


def _is_distinct(value: str) -> bool:
    return len(value) >= MIN_VALUE and value not in HIDDEN and not is_harmless_variable(value)


def _is_path(value: str) -> bool:
    """Whether a variable has a path and not, for example, base64 that begins with a slash."""
    return value.startswith(("/", "~/", "./", "../")) and not set(value) & set("+=\n") and value.count("/") > 1


def _spellings(value: str) -> set[bytes]:
    """How a value may be written: as it is, quoted for JSON, Python, a shell, HTML or a URL, or in base64."""
    texts = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    texts |= {shlex.quote(value).strip("'"), html.escape(value), value.replace("/", "\\/")}
    data = _encode(value)
    texts |= {quote(data), quote(data, safe=""), quote_plus(data)}
    encoded = (
        {base64.b64encode(data).rstrip(b"="), base64.urlsafe_b64encode(data).rstrip(b"=")} if len(data) > 8 else set()
    )
    encoded |= {data.hex().encode()}
    return {spelling for spelling in (*map(_encode, texts), *encoded) if len(spelling) >= MIN_VALUE}


def _encode(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # a secret ended inside a character
        return data.decode("utf-8", "replace")
