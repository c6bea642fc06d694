"""Scores findings by labels: recall over required changes, precision over the changes of any port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from labels import Label, Pair

MAX_LINE_DISTANCE = 3
"""Maximum distance of a finding from a label, in lines."""


@dataclass(frozen=True)
class ScoredFinding:
    """The scored part of a finding, of rocm3d or of a baseline."""

    path: str
    line: int
    code: str
    severity: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.code}"


def is_near(claim: ScoredFinding, label: Label, *, sites: bool = True) -> bool:
    """Whether a finding matches a label: one of its kinds, the same file, and near its lines or one of its sites."""
    if label.kind not in claim.kinds:
        return False
    if claim.path == label.file and label.first - MAX_LINE_DISTANCE <= claim.line <= label.last + MAX_LINE_DISTANCE:
        return True
    return sites and any(
        claim.path == file and abs(claim.line - line) <= MAX_LINE_DISTANCE for file, line in label.sites
    )


@dataclass(frozen=True)
class Score:
    """One pair and one tool. `true` and `false` are empty if the port does not cover the whole extension."""

    pair: Pair
    found_labels: tuple[Label, ...]
    found_by_errors: tuple[Label, ...]
    found_without_sites: tuple[Label, ...]
    missed: tuple[Label, ...]
    true: tuple[ScoredFinding, ...]
    true_without_sites: tuple[ScoredFinding, ...]
    false: tuple[ScoredFinding, ...]
    claims: int
    lines: int

    @property
    def label_count(self) -> int:
        """Number of labels that count for recall."""
        return len(self.found_labels) + len(self.missed)

    @property
    def recall(self) -> float | None:
        """Share of required labels found; None if there are none."""
        return ratio(len(self.found_labels), self.label_count)

    def precision(self, severities: Sequence[str] = ("error", "warning")) -> float | None:
        """Share of findings of these severities that a port confirms; None if none can be scored."""
        true = sum(claim.severity in severities for claim in self.true)
        return ratio(true, true + sum(claim.severity in severities for claim in self.false))

    @property
    def precision_without_sites(self) -> float | None:
        """Precision of errors and warnings, as if no label had a site."""
        return ratio(len(self.true_without_sites), len(self.true) + len(self.false))

    @property
    def per_thousand_lines(self) -> float:
        """Errors and warnings per 1,000 scanned lines."""
        return 1000 * self.claims / self.lines if self.lines else 0.0


def ratio(part: int, whole: int) -> float | None:
    """part / whole; None if whole is 0."""
    return part / whole if whole else None


def score(pair: Pair, claims: Iterable[ScoredFinding], is_scored: Callable[[str], bool], lines: int = 0) -> Score:
    """Score the findings of one tool on one pair. Notes are ignored."""
    claims = [claim for claim in claims if claim.severity in ("error", "warning")]
    required_labels = [label for label in pair.labels if label.is_scored]
    errors = [claim for claim in claims if claim.severity == "error"]
    found_labels = _labels_near_findings(required_labels, claims)
    scored = [claim for claim in claims if pair.whole_extension and is_scored(claim.path)]
    true = [claim for claim in scored if any(is_near(claim, label) for label in pair.labels)]
    return Score(
        pair=pair,
        found_labels=found_labels,
        found_by_errors=_labels_near_findings(required_labels, errors),
        found_without_sites=_labels_near_findings(required_labels, claims, sites=False),
        missed=tuple(label for label in required_labels if label not in found_labels),
        true=tuple(true),
        true_without_sites=tuple(c for c in true if any(is_near(c, label, sites=False) for label in pair.labels)),
        false=tuple(claim for claim in scored if claim not in true),
        claims=len(claims),
        lines=lines,
    )


def _labels_near_findings(
    labels: Iterable[Label], claims: Sequence[ScoredFinding], *, sites: bool = True
) -> tuple[Label, ...]:
    return tuple(label for label in labels if any(is_near(claim, label, sites=sites) for claim in claims))


@dataclass(frozen=True)
class Total:
    """All pairs of one tool: averages over pairs and over families, so that no large pair outweighs the rest."""

    recall: float | None
    recall_by_errors: float | None
    recall_without_sites: float | None
    recall_over_families: float | None
    precision: float | None
    precision_of_errors: float | None
    precision_of_warnings: float | None
    precision_without_sites: float | None
    precision_over_families: float | None
    families: int
    found: int
    wanted: int
    true: int
    false: int


def total(scores: Sequence[Score]) -> Total:
    """The averages, without pairs that have no labels or no scored findings."""
    by_family: dict[str, list[Score]] = {}
    for item in scores:
        by_family.setdefault(item.pair.family, []).append(item)
    groups = list(by_family.values())
    return Total(
        recall=mean_of_known(item.recall for item in scores),
        recall_by_errors=mean_of_known(ratio(len(item.found_by_errors), item.label_count) for item in scores),
        recall_without_sites=mean_of_known(ratio(len(item.found_without_sites), item.label_count) for item in scores),
        recall_over_families=mean_of_known(mean_of_known(item.recall for item in group) for group in groups),
        precision=mean_of_known(item.precision() for item in scores),
        precision_of_errors=mean_of_known(item.precision(("error",)) for item in scores),
        precision_of_warnings=mean_of_known(item.precision(("warning",)) for item in scores),
        precision_without_sites=mean_of_known(item.precision_without_sites for item in scores),
        precision_over_families=mean_of_known(mean_of_known(item.precision() for item in group) for group in groups),
        families=len(groups),
        found=sum(len(item.found_labels) for item in scores),
        wanted=sum(item.label_count for item in scores),
        true=sum(len(item.true) for item in scores),
        false=sum(len(item.false) for item in scores),
    )


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def by_kind(scores: Sequence[Score]) -> dict[str, tuple[int, int, int, int]]:
    """For each kind: labels found, all labels, findings confirmed, findings not confirmed."""
    found_labels: Counter[str] = Counter(label.kind for item in scores for label in item.found_labels)
    missed: Counter[str] = Counter(label.kind for item in scores for label in item.missed)
    true = Counter(_kind(claim, item.pair) for item in scores for claim in item.true)
    false = Counter(_kind(claim, item.pair) for item in scores for claim in item.false)
    kinds = sorted({*found_labels, *missed, *true, *false})
    return {kind: (found_labels[kind], found_labels[kind] + missed[kind], true[kind], false[kind]) for kind in kinds}


def by_code(scores: Sequence[Score]) -> dict[str, tuple[int, int]]:
    """For each code: findings confirmed, findings not confirmed."""
    true = Counter(claim.code for item in scores for claim in item.true)
    false = Counter(claim.code for item in scores for claim in item.false)
    return {code: (true[code], false[code]) for code in sorted({*true, *false})}


def _kind(claim: ScoredFinding, pair: Pair) -> str:
    """The kind that a finding counts for: that of a matching label, else its first."""
    confirmed = (label.kind for label in pair.labels if is_near(claim, label))
    return next(confirmed, claim.kinds[0] if claim.kinds else "none")
