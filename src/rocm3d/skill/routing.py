"""Predicts which skill a prompt triggers by comparing terms with the descriptions (TF-IDF); deterministic.

It approximates the choice of an agent. It finds prompts that share no distinctive term with the right description, or
more terms with another one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

# Below this score no skill is triggered: a few common words are not enough.
THRESHOLD = 0.08
_LITTLE = """
a about after all an and any are as at be but by can do does find for from get give has have how i if in into is it its
make me might my no not of on only or our out so such than that the their then there they this to up use used uses using
want wants was we what when which who why will with without you your
"""
_COMMON = frozenset(_LITTLE.split())
_TOKEN = re.compile(r"[a-z0-9]+(?:[.+-][a-z0-9]+)*")
_NOT_FOR = re.compile(r"(?:^|(?<=[.;]))\s*(?:not for|do not use)\b[^.]*\.?", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """A skill and its score, from 0 to about 1."""

    skill: str
    score: float


def rank(prompt: str, skills: Mapping[str, str]) -> list[Choice]:
    """All skills (name to description), best first."""
    pages = {name: _terms(f"{name} {_NOT_FOR.sub(' ', text)}") for name, text in skills.items()}
    against = {name: _terms(" ".join(_NOT_FOR.findall(text))) for name, text in skills.items()}
    weights = _weights(pages)
    asked = _terms(prompt)
    whole = sum(weights.get(term, 0.0) for term in asked) or 1.0
    most = math.log(len(pages) + 1) * math.sqrt(len(asked) or 1)
    found = []
    for name, terms in pages.items():
        shared = sum(weights[term] for term in asked if term in terms)
        warned = sum(weights.get(term, 0.0) for term in asked if term in against[name] and term not in terms)
        # The share of matching terms, scaled down if only a few terms match: one rare word is not enough.
        found.append(Choice(name, (shared - warned) / whole * min(1.0, (shared + warned) / most)))
    return sorted(found, key=lambda item: (-item.score, item.skill))


def chosen(prompt: str, skills: Mapping[str, str]) -> str | None:
    """The skill that a prompt triggers; None if every score is below the threshold."""
    best = rank(prompt, skills)[0]
    return best.skill if best.score >= THRESHOLD else None


def _weights(pages: Mapping[str, set[str]]) -> dict[str, float]:
    """Inverse document frequency: terms that few descriptions contain weigh more."""
    count = Counter(term for terms in pages.values() for term in terms)
    return {term: math.log((len(pages) + 1) / number) for term, number in count.items()}


def _terms(text: str) -> set[str]:
    words = {word for token in _TOKEN.findall(text.lower()) for word in (token, *re.split(r"[.+-]", token))}
    return {_stem(word) for word in words if len(word) > 1 and word not in _COMMON}


def _stem(word: str) -> str:
    """Strip common English endings; all gfx ids become `gfx`."""
    if re.fullmatch(r"gfx\d+[a-f]?", word):
        return "gfx"
    for ending in ("ting", "ning", "ing", "ies", "ers", "er", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
