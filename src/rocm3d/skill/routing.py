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
_STOP_WORD_TEXT = """
a about after all an and any are as at be but by can do does find for from get give has have how i if in into is it its
make me might my no not of on only or our out so such than that the their then there they this to up use used uses using
want wants was we what when which who why will with without you your
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
_TOKEN = re.compile(r"[a-z0-9]+(?:[.+-][a-z0-9]+)*")
_NOT_FOR = re.compile(r"(?:^|(?<=[.;]))\s*(?:not for|do not use)\b[^.]*\.?", re.IGNORECASE)


@dataclass(frozen=True)
class SkillScore:
    """A skill and its score, from 0 to about 1."""

    skill: str
    score: float


def rank_skills(prompt: str, skills: Mapping[str, str]) -> list[SkillScore]:
    """All skills (name to description), best first."""
    pages = {name: _terms(f"{name} {_NOT_FOR.sub(' ', text)}") for name, text in skills.items()}
    exclusions = {name: _terms(" ".join(_NOT_FOR.findall(text))) for name, text in skills.items()}
    weights = _weights(pages)
    prompt_terms = _terms(prompt)
    total_weight = sum(weights.get(term, 0.0) for term in prompt_terms) or 1.0
    scale = math.log(len(pages) + 1) * math.sqrt(len(prompt_terms) or 1)
    scores = []
    for name, terms in pages.items():
        shared = sum(weights[term] for term in prompt_terms if term in terms)
        excluded = sum(
            weights.get(term, 0.0) for term in prompt_terms if term in exclusions[name] and term not in terms
        )
        # The share of matching terms, scaled down if only a few terms match: one rare word is not enough.
        scores.append(SkillScore(name, (shared - excluded) / total_weight * min(1.0, (shared + excluded) / scale)))
    return sorted(scores, key=lambda score: (-score.score, score.skill))


def best_skill(prompt: str, skills: Mapping[str, str]) -> str | None:
    """The skill that a prompt triggers; None if every score is below the threshold."""
    best = rank_skills(prompt, skills)[0]
    return best.skill if best.score >= THRESHOLD else None


def _weights(pages: Mapping[str, set[str]]) -> dict[str, float]:
    """Inverse document frequency: terms that few descriptions contain weigh more."""
    count = Counter(term for terms in pages.values() for term in terms)
    return {term: math.log((len(pages) + 1) / number) for term, number in count.items()}


def _terms(text: str) -> set[str]:
    words = {word for token in _TOKEN.findall(text.lower()) for word in (token, *re.split(r"[.+-]", token))}
    return {_stem(word) for word in words if len(word) > 1 and word not in _STOP_WORDS}


def _stem(word: str) -> str:
    """Strip common English endings; all gfx ids become `gfx`."""
    if re.fullmatch(r"gfx\d+[a-f]?", word):
        return "gfx"
    for ending in ("ting", "ning", "ing", "ies", "ers", "er", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
