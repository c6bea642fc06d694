"""Corpus benchmark: its labels are valid, and its scores are computed correctly. Needs no mirror and no network."""

from __future__ import annotations

import subprocess
from typing import get_args

import baseline
import corpus as benchmark
import labels
import mutation
import pytest
from labels import Corpus, Label, Pair, Port
from mirrors import Mirror
from scoring import ScoredFinding, is_near, score, total

from rocm3d.model.code import ChangeKind

SPACED = "#include <cstdint>\n\n\n\n\n\nvoid go() {\n    k << <1, 32>> >();\n}\n"


@pytest.fixture(scope="module")
def shipped_corpus():
    return labels.load()


def label(file="a.cu", kind="LAUNCH", first=10, last=10, **more):
    return Label(file=file, kind=kind, first=first, last=last, **{"required": True, "visible": True, **more})


def pair(*marks, whole=True, family="one", name="mini"):
    port = Port(repository="someone/mini", commit="0" * 40, who="someone")
    return Pair(
        id=name,
        family=family,
        repository="someone/mini",
        base="0" * 40,
        ports=(port,),
        whole_extension=whole,
        labels=marks,
    )


def claim(path="a.cu", line=10, kinds=("LAUNCH",), severity="error", code="CU301"):
    return ScoredFinding(path, line, code, severity, kinds)


def always_scored(path):
    return True


def test_kinds_are_known_and_ranges_sane(shipped_corpus):
    marks = [mark for pair in shipped_corpus.pairs for mark in pair.labels]

    assert {mark.kind for mark in marks} <= set(get_args(ChangeKind))
    assert [] == [str(mark) for mark in marks if mark.first > mark.last or mark.last - mark.first > 40]
    assert [] == [str(mark) for mark in marks if mark.file.startswith("/") or ".." in mark.file]
    assert [] == [str(mark) for mark in marks if not mark.visible and not mark.why]


def test_pairs_are_distinct_and_each_has_a_required_label(shipped_corpus):
    names = [pair.id for pair in shipped_corpus.pairs]

    assert len(names) == len(set(names)) >= 11
    assert [] == [pair.id for pair in shipped_corpus.pairs if not any(mark.required for mark in pair.labels)]


def test_labels_are_distinct(shipped_corpus):
    for pair in shipped_corpus.pairs:
        places = [(mark.file, mark.kind, mark.first, mark.last) for mark in pair.labels]
        assert len(places) == len(set(places)), pair.id


def test_at_most_a_tenth_is_ruled_out_as_invisible(shipped_corpus):
    marks = [mark for pair in shipped_corpus.pairs for mark in pair.labels]

    assert sum(not mark.visible for mark in marks) <= len(marks) / 10


def test_every_error_and_warning_code_has_kinds(knowledge):
    assert [] == [code.code for code in knowledge.codes.values() if code.severity != "note" and not code.kinds]


def test_the_baseline_is_a_list_of_about_forty_patterns():
    assert 35 <= len(baseline.load()) <= 45


@pytest.mark.parametrize(("line", "near"), [(6, False), (7, True), (10, True), (13, True), (15, True), (16, False)])
def test_three_lines_away_matches_and_four_does_not(line, near):
    assert near == is_near(claim(line=line), label(first=10, last=12))


def test_another_kind_or_file_does_not_match():
    assert not is_near(claim(kinds=("MASK",)), label())
    assert not is_near(claim(path="b.cu"), label())
    assert is_near(claim(kinds=("MASK", "LAUNCH")), label())


def test_finding_at_a_site_matches_unless_sites_are_excluded():
    mark = label(kind="MASK", sites=(("b.cuh", 50),))
    site_claim = claim(path="b.cuh", line=52, kinds=("MASK",))

    assert is_near(site_claim, mark)
    assert not is_near(site_claim, mark, sites=False)
    result = score(pair(mark), [site_claim], always_scored)
    assert (1.0, 1.0, 0.0) == (result.recall, result.precision(), result.precision_without_sites)
    assert () == result.found_without_sites


def test_recall_counts_only_required_visible_labels():
    mini = pair(label(), label(first=50, last=50), label(first=90, last=90, required=False),
                label(first=120, last=120, visible=False, why="nothing to see"))  # fmt: skip

    result = score(mini, [claim(line=11)], always_scored)

    assert (1, 2, 0.5) == (len(result.found_labels), result.label_count, result.recall)
    assert [50] == [mark.first for mark in result.missed]


def test_warnings_count_for_recall_but_not_for_the_recall_of_errors_and_notes_for_neither():
    mini = pair(label(), label(first=50, last=50))

    result = score(mini, [claim(severity="warning"), claim(line=50, severity="note")], always_scored)

    assert ([10], []) == ([mark.first for mark in result.found_labels], list(result.found_by_errors))
    assert 1.0 == result.precision()


def test_precision_counts_findings_near_any_allowed_label():
    mini = pair(label(), label(first=90, last=90, required=False))
    claims = [claim(), claim(line=91, severity="warning"), claim(line=40), claim(line=60, severity="warning")]

    result = score(mini, claims, always_scored)

    assert (0.5, 0.5, 0.5) == (result.precision(), result.precision(("error",)), result.precision(("warning",)))
    assert [40, 60] == [item.line for item in result.false]


def test_a_follow_up_commit_has_no_precision():
    result = score(pair(label(), whole=False), [claim(line=40)], always_scored)

    assert (None, ()) == (result.precision(), result.false)


def test_excluded_files_are_not_scored():
    corpus = Corpus(excluded=("tests/",), excluded_suffixes=(".md",), pairs=())
    claims = [claim(path="tests/a.cu", line=1), claim(path="lib/x/tests/b.cu", line=1), claim(path="README.md", line=1)]

    assert () == score(pair(label()), claims, corpus.is_scored).false
    assert corpus.is_scored("src/contests/a.cu")


def test_averages_go_over_pairs_and_over_families():
    full = score(pair(label(), name="a", family="x"), [claim()], always_scored)
    none = score(pair(label(), name="b", family="x"), [], always_scored)
    other = score(pair(label(), name="c", family="y"), [claim()], always_scored)

    sums = total([full, none, other])

    assert (pytest.approx(2 / 3), 0.75, 2) == (sums.recall, sums.recall_over_families, sums.families)
    assert 1.0 == sums.precision  # the pair without findings has none to judge


def test_one_hunk_is_reverted_and_others_stay():
    base, port = "a\nb\nc\nd\n", "a\nB\nc\nnew\nd\n"

    assert mutation.RevertedPort("a\nb\nc\nnew\nd\n", (2, 2), (2, 2)) == mutation.revert_hunks(base, port, (2, 2))
    assert mutation.RevertedPort("a\nB\nc\nd\n", (4, 4), (4, 4)) == mutation.revert_hunks(base, port, (3, 3))
    assert mutation.RevertedPort(base, (2, 4), (2, 4)) == mutation.revert_hunks(base, port, (2, 2), (3, 3))
    assert mutation.revert_hunks(base, port, (1, 1)) is None


@pytest.mark.parametrize(
    ("claims", "unnoticed", "outcome"),
    [
        ([], "", "silent"),
        ([], "only CUDA takes the branch", "explained"),
        ([claim(line=2)], "", "back"),  # one more
        ([claim(line=1), claim(line=40)], "", "back"),  # as many, one of them at the change
        ([claim(line=40), claim(line=41)], "", "silent"),
        ([claim(line=2, kinds=("MASK",))], "", "silent"),
    ],
)
def test_reverted_change_must_be_found(tmp_path, claims, unnoticed, outcome):
    trees = mutation.Trees(tmp_path / "base", tmp_path / "port", {})
    for folder, text in ((trees.base, "old\n"), (trees.port, "new\n")):
        folder.mkdir()
        (folder / "a.cu").write_text(text * 1)
    before = [claim(line=40), claim(line=41)] if len(claims) == 2 else []
    mark = label(first=1, last=1, unnoticed=unnoticed)

    assert outcome == mutation.check_label(mark, trees, lambda: claims, before)
    assert "new\n" == (trees.port / "a.cu").read_text()


@pytest.fixture
def mirrors(tmp_path):
    """A bare mirror of a mini repository: one commit with a spaced launch, one that ports it."""
    work = tmp_path / "work"
    work.mkdir()

    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *arguments], cwd=work, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    commits = []
    for text in (SPACED, SPACED.replace("<< <", "<<<").replace(">> >", ">>>")):
        (work / "a.cu").write_text(text)
        git("add", ".")
        git("commit", "--quiet", "--message", "step")
        commits.append(git("rev-parse", "HEAD"))
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "mirrors" / "someone+mini" / "repo"))
    return tmp_path / "mirrors", commits


def test_benchmark_measures_a_small_repository(mirrors, knowledge):
    folder, (base, port) = mirrors
    ports = (Port(repository="someone/mini", commit=port, who="someone"),)
    mini = pair(label(first=8, last=8), label(kind="MASK", first=8, last=8)).model_copy(
        update={"base": base, "ports": ports}
    )
    tool = benchmark.CorpusBenchmark(
        folder, Corpus(excluded=(), excluded_suffixes=(), pairs=(mini,)), knowledge, baseline.load()
    )

    results = {"mini": tool.measure(mini)}

    assert 0.5 == results["mini"]["rocm3d"].recall == results["mini"]["regex"].recall
    assert 0.0 == results["mini"]["empty"].recall
    assert [(mini.labels[0], "back")] == list(tool.revert_changes(mini, mini.labels[:1]))
    assert any(line.startswith("mini ") for line in benchmark.report(results, knowledge))
    assert ["a.cu:8 MASK"] == benchmark.as_json(results, {})["pairs"]["mini"]["rocm3d"]["missed"]


def test_missing_mirror_is_named(tmp_path):
    with pytest.raises(Exception, match=r"someone\+mini"):
        Mirror.of(tmp_path, "someone/mini")
