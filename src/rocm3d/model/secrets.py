"""How secrets are recognised: token formats, names of secrets, and programs with password options."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier


def _check_pattern(text: str) -> str:
    try:
        re.compile(text.encode("ascii"))
    except (re.error, UnicodeEncodeError) as error:
        raise ValueError(f"{text!r} is not a regular expression in ASCII: {error}") from error
    return text


Word = Annotated[str, Field(pattern=r"^[a-z0-9]+$")]
LowerText = Annotated[str, Field(min_length=2, pattern=r"^[^A-Z]+$")]
Option = Annotated[str, Field(pattern=r"^-")]


class TokenFormat(Record):
    """Tokens that are recognised anywhere. The pattern is searched only in text that contains one of `literals`."""

    id: Identifier
    pattern: Annotated[str, AfterValidator(_check_pattern)]
    literals: tuple[LowerText, ...] = Field(min_length=1, description="in lower case")
    source: str = Field(min_length=4)


class SecretNames(Record):
    """Words of names, in lower case. A name is split at `_`, `-`, `.` and where upper case begins."""

    words: tuple[Word, ...] = Field(description="a name with one of them is a secret's")
    endings: tuple[Word, ...] = Field(description="also as the end of a longer word: hftoken")
    pairs: tuple[tuple[Word, Word], ...] = Field(description="two words that follow each other: api key")
    passwords: tuple[Word, ...] = Field(description="of these, a number is a secret too")
    weak: tuple[Word, ...] = Field(description="beside them, a value is a secret only if it is random: key")
    harmless_before: tuple[Word, ...] = Field(description="not a secret's, with one of them before the word: max_token")
    harmless_last: tuple[Word, ...] = Field(description="not a secret's, with one of them at the end: token_file")
    headers: tuple[str, ...] = Field(description="HTTP headers whose complete value is a secret")
    schemes: tuple[Word, ...] = Field(description="words between a header and its secret: Bearer")
    harmless_values: tuple[str, ...]


class PasswordProgram(Record):
    """A program that takes a password as an option or a word of its command line."""

    names: tuple[str, ...] = Field(min_length=1)
    after: tuple[str, ...] = Field(default=(), description="subcommands, one of which must come first; empty: none")
    options: tuple[Option, ...] = ()
    attached: bool = Field(default=False, description="the value is attached to the option: -pX")
    separate: bool = Field(default=True, description="the value is the next word: -p X")
    positional: bool = Field(default=False, description="the first word without a dash is the secret")
    wrapper: bool = Field(default=False, description="the first word without a dash is another program")
    source: str = Field(min_length=4)


class SecretRules(Fact):
    """secrets.toml: what the recorder redacts."""

    names: SecretNames
    tokens: tuple[TokenFormat, ...]
    programs: tuple[PasswordProgram, ...]
