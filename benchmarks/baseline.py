"""Baseline for the corpus benchmark: findings of a list of regular expressions."""

from __future__ import annotations

import re
from pathlib import Path

from labels import Corpus, read_toml
from pydantic import Field
from scoring import ScoredFinding

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
    return tuple(Pattern.model_validate(row) for row in read_toml(path)["patterns"])


def claims(root: Path, paths: list[str], patterns: tuple[Pattern, ...], corpus: Corpus) -> list[ScoredFinding]:
    """One finding per pattern and line, only in files that are scored."""
    compiled = [(pattern, re.compile(pattern.pattern)) for pattern in patterns]
    matches = []
    for path in filter(corpus.is_scored, paths):
        applicable = [(pattern, regex) for pattern, regex in compiled if _applies(pattern.where, path)]
        text = (root / path).read_text(encoding="utf-8", errors="replace") if applicable else ""
        for number, line in enumerate(text.splitlines(), start=1):
            matches += [
                ScoredFinding(path, number, pattern.pattern, "error", pattern.kinds)
                for pattern, rx in applicable
                if rx.search(line)
            ]
    return matches


def _applies(where: str, path: str) -> bool:
    if where == "native":
        return path.endswith(_NATIVE)
    return where == "any" or path.endswith(".py")
