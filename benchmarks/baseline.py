"""Baseline for the corpus benchmark: findings of a list of regular expressions."""

from __future__ import annotations

import re
from pathlib import Path

from labels import Corpus, read
from pydantic import Field
from scoring import Claim

from rocm3d.model.base import Record
from rocm3d.model.code import ChangeKind

FILE = Path(__file__).with_name("baseline.toml")
_NATIVE = (".cu", ".cuh", ".h", ".hpp", ".hh", ".cpp", ".cc", ".c", ".inl")


class Pattern(Record):
    """One regular expression and the kinds of labels that it matches."""

    pattern: str
    kinds: tuple[ChangeKind, ...] = Field(min_length=1)
    where: str = Field(pattern=r"^(native|python|any)$")


def load(path: Path = FILE) -> tuple[Pattern, ...]:
    """Read and validate the patterns."""
    return tuple(Pattern.model_validate(row) for row in read(path)["patterns"])


def claims(root: Path, paths: list[str], patterns: tuple[Pattern, ...], corpus: Corpus) -> list[Claim]:
    """One finding per pattern and line, only in files that are scored."""
    ready = [(item, re.compile(item.pattern)) for item in patterns]
    found = []
    for path in filter(corpus.is_scored, paths):
        chosen = [(item, regex) for item, regex in ready if _applies(item.where, path)]
        text = (root / path).read_text(encoding="utf-8", errors="replace") if chosen else ""
        for number, line in enumerate(text.splitlines(), start=1):
            found += [Claim(path, number, item.pattern, "error", item.kinds) for item, rx in chosen if rx.search(line)]
    return found


def _applies(where: str, path: str) -> bool:
    if where == "native":
        return path.endswith(_NATIVE)
    return where == "any" or path.endswith(".py")
