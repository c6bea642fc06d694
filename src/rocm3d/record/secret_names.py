"""Which names are those of secrets, and which values beside such a name are one. The words are in secrets.toml."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from rocm3d.knowledge.folder import RecordFolder
from rocm3d.knowledge.record_files import data_folder
from rocm3d.model.errors import UserError
from rocm3d.model.secrets import SecretRules

# password: any value; secret: any value that is not a number or a plain word such as `none`; weak: only random values.
NameKind = Literal["", "weak", "secret", "password"]

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NUMBER = re.compile(rb"[+-]?[0-9][0-9_,]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?%?")
_HEX = re.compile(rb"(?:0x)?[0-9a-fA-F]{16,}")
_RANDOM = re.compile(rb"[A-Za-z0-9+/_=~.-]{16,}")
# Not values but references to one: $TOKEN, ${TOKEN}, {token}, <token>, %(token)s, ****, (redacted).
_REFERENCE = re.compile(
    rb"\$?\{.*|\$\(?[A-Za-z_].*|<.*|%\(.*|%[a-z]|\*{3,}|\.{3,}|x{3,}|X{3,}|[\[(]?redacted[\])]?|\(.*|\[\]?", re.DOTALL
)
_MIN_VALUE = 4


@cache
def rules() -> SecretRules:
    """The shipped rules."""
    loaded: SecretRules | None = RecordFolder(data_folder()).single("secrets")
    if loaded is None:
        raise UserError(f"{data_folder() / 'secrets.toml'} is missing", hint="reinstall rocm3d")
    return loaded


@lru_cache(maxsize=4096)
def name_kind(name: str) -> NameKind:
    """Classify the name of a variable, option, header or key."""
    names = rules().names
    words = [part.lower() for part in _PARTS.findall(name)]
    if not words:
        return ""
    if words[-1] in names.harmless_last or (
        len(words) > 1 and words[-1].isdigit() and words[-2] in names.harmless_last
    ):
        return ""
    for position, word in enumerate(words):
        pair = tuple(words[position : position + 2])
        is_secret = word in names.words or pair in names.pairs or word.endswith(names.endings)
        if is_secret and not set(words[:position]) & set(names.harmless_before):
            following = words[position:]
            return "password" if any(part.endswith(names.passwords) for part in following) else "secret"
    weak = [position for position, word in enumerate(words) if word in names.weak]
    return "weak" if weak and not set(words[: weak[0]]) & set(names.harmless_before) else ""


def is_secret_value(value: bytes, kind: NameKind, name: str = "") -> bool:
    """Whether a value in running text, beside a name of this kind, is a secret."""
    if not kind or _REFERENCE.fullmatch(value) or value.lower().decode("latin-1") in rules().names.harmless_values:
        return False
    if kind == "weak":
        return is_random(value)
    # The placeholder of an option in a usage text: --token TOKEN.
    if len(value) < _MIN_VALUE or value == name.strip("-").replace("-", "_").upper().encode("latin-1", "replace"):
        return False
    return kind == "password" or not _NUMBER.fullmatch(value)


def is_random(value: bytes) -> bool:
    """A long value that is no word, number, path or version: hex, base64, or letters mixed with digits."""
    if _HEX.fullmatch(value):
        has_both = re.search(rb"[0-9]", value) and re.search(rb"[a-fA-F]", value)
        return bool(has_both) or len(value) >= 32
    if not _RANDOM.fullmatch(value) or value.startswith((b"/", b"./", b"../", b"~/")) or _NUMBER.fullmatch(value):
        return False
    digits = sum(48 <= byte <= 57 for byte in value)
    return digits >= 2 and bool(re.search(rb"[A-Za-z]", value)) and b"." not in value and b"/" not in value[:-1]


def is_harmless_variable(value: str) -> bool:
    """A value that is hidden beside its name, but too common to be hidden elsewhere."""
    encoded = value.encode("utf-8", "surrogateescape")
    return bool(_NUMBER.fullmatch(encoded)) or value.lower() in rules().names.harmless_values
