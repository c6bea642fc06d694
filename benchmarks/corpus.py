"""Corpus benchmark: findings of rocm3d in real repositories, compared with the changes of human ports.

python benchmarks/corpus.py --mirrors DIR [--pair ID] [--misses] [--false-alarms] [--mutate [N]] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import baseline
import labels
import mutation
from labels import Corpus, Label, Pair
from mirrors import Mirror
from scoring import Score, ScoredFinding, Total, by_code, by_kind, ratio, score, total

from rocm3d import __version__
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import Rocm3dError
from rocm3d.pipeline import Repository, load
from rocm3d.workspace.process import run

ROOT = Path(__file__).resolve().parents[1]
ALL_LABELS = 1_000_000


@dataclass(frozen=True)
class CorpusBenchmark:
    """Inputs that are the same for every pair."""

    mirrors: Path
    corpus: Corpus
    knowledge: Knowledge
    patterns: tuple[baseline.Pattern, ...]

    def scan(self, root: Path, work: Path) -> list[ScoredFinding]:
        """Findings of rocm3d in a tree."""
        findings = Repository(root, self.knowledge, work=work, cached=True).scan().findings
        codes = self.knowledge.codes
        return [ScoredFinding(f.path, f.line, f.code, f.severity, codes[f.code].kinds) for f in findings]

    def measure(self, pair: Pair) -> dict[str, Score]:
        """The scores of all three tools on one pair."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "base"
            paths = Mirror.of(self.mirrors, pair.repository).extract(pair.base, root)
            lines = sum((root / path).read_bytes().count(b"\n") for path in paths)
            tools = {
                "rocm3d": self.scan(root, Path(folder) / "work"),
                "regex": baseline.claims(root, paths, self.patterns, self.corpus),
                "empty": [],
            }
        return {name: score(pair, claims, self.corpus.is_scored, lines) for name, claims in tools.items()}

    def revert_changes(self, pair: Pair, labels_to_revert: Sequence[Label]) -> Iterator[tuple[Label, str]]:
        """Revert the change of each label in the first port that has it, and yield the outcome."""
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder) / "base"
            Mirror.of(self.mirrors, pair.repository).extract(pair.base, base)
            ports = list(self._extract_ports(pair, base, Path(folder)))
            for label in labels_to_revert:
                outcomes = (
                    mutation.check_label(label, trees, partial(self.scan, trees.port, Path(folder)), before)
                    for trees, before in ports
                )
                yield label, next((o for o in outcomes if o != "not in this port"), "not in this port")

    def _extract_ports(
        self, pair: Pair, base: Path, folder: Path
    ) -> Iterator[tuple[mutation.Trees, list[ScoredFinding]]]:
        for number, port in enumerate(pair.ports):
            mirror, root = Mirror.of(self.mirrors, port.repository), folder / f"port{number}"
            mirror.extract(port.commit, root)
            trees = mutation.Trees(base, root, mirror.renamed_files(pair.base, port.commit))
            yield trees, self.scan(root, folder)


def machine() -> dict[str, str]:
    """Machine and versions of this run."""
    head = run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]).stdout.decode().strip()
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "rocm3d": f"{__version__} ({head or 'no commit'})",
    }


def report(results: dict[str, dict[str, Score]], knowledge: Knowledge) -> Iterator[str]:
    """Lines of the tables."""
    for name, value in machine().items():
        yield f"{name}: {value}"
    yield f"active codes: {sum(code.status == 'active' for code in knowledge.codes.values())} of {len(knowledge.codes)}"
    yield ""
    heads = f"{'labels':>8}{'recall':>8}{'errors':>8}{'strict':>8}{'precision':>11}{'found':>7}{'/kLOC':>7}"
    yield f"{'pair':16}{heads}  regex recall, precision"
    for identity, tools in results.items():
        yield _row(identity, tools["rocm3d"], tools["regex"])
    yield ""
    for tool in ("rocm3d", "regex", "empty"):
        yield _macro(tool, total([tools[tool] for tools in results.values()]))
    ours, theirs = ([tools[tool] for tools in results.values()] for tool in ("rocm3d", "regex"))
    regex = by_kind(theirs)
    yield ""
    yield f"{'kind':10}{'labels found':>14}{'true':>6}{'false':>7}  regex found, true, false"
    for kind, (found_labels, label_count, true, false) in by_kind(ours).items():
        other = regex.get(kind, (0, label_count, 0, 0))
        regex_counts = f"{other[0]}/{label_count}, {other[2]}, {other[3]}"
        yield f"{kind:10}{f'{found_labels}/{label_count}':>14}{true:>6}{false:>7}  {regex_counts}"
    yield ""
    yield f"{'code':10}{'true':>6}{'false':>7}  rule"
    for code, (true, false) in by_code(ours).items():
        yield f"{code:10}{true:>6}{false:>7}  {knowledge.codes[code].rule}"


def _row(identity: str, ours: Score, regex: Score) -> str:
    strict, errors = (ratio(len(f), ours.label_count) for f in (ours.found_without_sites, ours.found_by_errors))
    regex_shares = f"{_share(regex.recall)} {_share(regex.precision())}"
    counts = f"{len(ours.found_labels)}/{ours.label_count}"
    precision = f"{_share(ours.precision())}" if ours.pair.whole_extension else "-"
    return (
        f"{identity:16}{counts:>8}{_share(ours.recall):>8}{_share(errors):>8}{_share(strict):>8}{precision:>11}"
        f"{ours.claims:>7}{ours.per_thousand_lines:>7.1f}  {regex_shares}"
    )


def _macro(tool: str, sums: Total) -> str:
    return (
        f"macro {tool:7} recall {_share(sums.recall)} (errors alone {_share(sums.recall_by_errors)}, without sites "
        f"{_share(sums.recall_without_sites)}, over {sums.families} families {_share(sums.recall_over_families)}; "
        f"{sums.found}/{sums.wanted} labels); precision {_share(sums.precision)} (errors "
        f"{_share(sums.precision_of_errors)}, warnings {_share(sums.precision_of_warnings)}, without sites "
        f"{_share(sums.precision_without_sites)}, over families {_share(sums.precision_over_families)}; "
        f"{sums.true} true, {sums.false} false)"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def as_json(results: dict[str, dict[str, Score]], mutations: dict[str, str]) -> dict[str, Any]:
    """All results, for --output."""
    tools = next(iter(results.values()), {})
    return {
        "ran": machine(),
        "total": {tool: asdict(total([pair[tool] for pair in results.values()])) for tool in tools},
        "pairs": {
            identity: {
                tool: {
                    "recall": item.recall,
                    "precision": item.precision(),
                    "found": [str(label) for label in item.found_labels],
                    "missed": [str(label) for label in item.missed],
                    "true": [str(claim) for claim in item.true],
                    "false": [str(claim) for claim in item.false],
                    "claims": item.claims,
                    "lines": item.lines,
                }
                for tool, item in pair.items()
            }
            for identity, pair in results.items()
        },
        "mutations": mutations,
    }


def _mutation_outcomes(benchmark: CorpusBenchmark, results: dict[str, dict[str, Score]], size: int) -> dict[str, str]:
    """Outcomes by label, for at most `size` of the labels that rocm3d finds in the bases."""
    found_labels = [(identity, label) for identity, tools in results.items() for label in tools["rocm3d"].found_labels]
    chosen = {id(label) for label in mutation.spread_sample([label for _, label in found_labels], size)}
    pairs = {pair.id: pair for pair in benchmark.corpus.pairs}
    outcomes = {}
    for identity in results:
        labels_to_revert = [label for name, label in found_labels if name == identity and id(label) in chosen]
        for label, outcome in benchmark.revert_changes(pairs[identity], labels_to_revert) if labels_to_revert else ():
            outcomes[f"{identity}: {label}"] = outcome
    return outcomes


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with <owner>+<name>/repo bare mirrors")
    parser.add_argument("--pair", action="append", help="only this pair; may be repeated")
    parser.add_argument("--misses", action="store_true", help="list required labels that were not found")
    parser.add_argument("--false-alarms", action="store_true", help="list findings that no port confirms")
    parser.add_argument(
        "--mutate",
        type=int,
        nargs="?",
        const=ALL_LABELS,
        help="revert N human changes (default: all) and expect the findings again",
    )
    parser.add_argument("--output", type=Path, help="write everything as JSON")
    return parser.parse_args()


def main() -> int:
    """Run the benchmark; 1 if a reverted change is not found."""
    options = _parse_arguments()
    benchmark = CorpusBenchmark(options.mirrors, labels.load(), load(), baseline.load())
    known = [pair.id for pair in benchmark.corpus.pairs]
    unknown = set(options.pair or ()) - set(known)
    if unknown:
        raise SystemExit(f"unknown pair {', '.join(sorted(unknown))}; known pairs: {', '.join(known)}")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["ROCM3D_CACHE"] = str(Path(cache) / "rocm3d")
        chosen = [pair for pair in benchmark.corpus.pairs if not options.pair or pair.id in options.pair]
        results = {pair.id: benchmark.measure(pair) for pair in chosen}
        _print_lines(report(results, benchmark.knowledge))
        if options.misses:
            _print_lines(["", "misses:"])
            _print_lines(f"{i}: {label}" for i, tools in results.items() for label in tools["rocm3d"].missed)
        if options.false_alarms:
            _print_lines(["", "false alarms:"])
            _print_lines(f"{i}: {claim}" for i, tools in results.items() for claim in tools["rocm3d"].false)
        outcomes = _mutation_outcomes(benchmark, results, options.mutate) if options.mutate else {}
    if options.mutate:
        _print_lines(["", "mutations:", *(f"{outcome:18}{label}" for label, outcome in outcomes.items())])
    if options.output:
        options.output.write_text(json.dumps(as_json(results, outcomes), indent=2) + "\n", encoding="utf-8")
    return int("silent" in outcomes.values())


def _print_lines(lines: Sequence[str] | Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Rocm3dError as failure:
        sys.exit(str(failure))
