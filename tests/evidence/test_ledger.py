from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import Program
from waiting import DEADLINE, wait_for_exit

from rocm3d.evidence.ledger import LedgerChange, LedgerFile, slug
from rocm3d.model.base import SCHEMA_VERSION
from rocm3d.model.errors import UserError
from rocm3d.model.upstream import EditedFile, Fix, Ledger, Proposal

PULL = "https://github.com/acme/knn/pull/7"
KNN = Proposal(name="Simple KNN", part="submodule", edited=(EditedFile(path="a.cu", recipes=("ballot-64-bit",)),))


@pytest.fixture
def messages():
    return []


@pytest.fixture
def ledger_file(tmp_path, messages):
    """The user's own ledger."""
    return LedgerFile(tmp_path / "ledger.json", chosen_by_user=False, report=messages.append)


def test_a_ledger_of_a_newer_schema_is_refused_and_stays(ledger_file):
    text = json.dumps({"schema_version": "9.0", "tool_version": "9.9", "kind": "ledger", "fixes": []})
    ledger_file.path.write_text(text)

    with pytest.raises(UserError, match=r"has schema 9\.0"):
        ledger_file.add("knn", LedgerChange())

    assert ledger_file.path.read_text() == text


@pytest.mark.parametrize("text", ["", "not json", f'{{"schema_version": "{SCHEMA_VERSION}", "verdicts": []}}', "[1]"])
def test_a_file_that_was_named_and_is_no_ledger_is_not_touched(tmp_path, messages, text):
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(UserError, match="is not a rocm3d ledger"):
        LedgerFile.open(path, messages.append).add("knn", LedgerChange())

    assert path.read_text() == text
    assert not messages


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"\0" * len(data),
        lambda data: data.replace(b'"open"', b'"sideways"'),
        lambda data: data.replace(b"knn", b"\xff\xfe\xff"),
    ],
    ids=["cut off", "zeros", "an unknown state", "not UTF-8"],
)
def test_a_damaged_ledger_is_renamed_with_one_line(ledger_file, messages, damage):
    ledger_file.add("knn", LedgerChange())
    bytes_ = damage(ledger_file.path.read_bytes())
    ledger_file.path.write_bytes(bytes_)

    with pytest.raises(UserError):
        ledger_file.read()
    ledger_file.add("gsplat", LedgerChange())

    (backup,) = ledger_file.path.parent.glob("ledger.json.damaged-*")
    assert backup.read_bytes() == bytes_
    assert [f"the ledger is damaged. It was renamed to {backup}; starting a new one"] == messages
    assert ["gsplat"] == [fix.id for fix in ledger_file.read().fixes]


def test_a_named_ledger_that_was_cut_off_is_known_for_ours_and_renamed(tmp_path, messages):
    book = LedgerFile.open(tmp_path / "team.json", messages.append)
    book.add("knn", LedgerChange())
    book.path.write_bytes(book.path.read_bytes()[:-40])

    book.add("gsplat", LedgerChange())

    assert len(messages) == 1


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda ledger_file: ledger_file.add("knn", LedgerChange()), "knn is already in the ledger"),
        (lambda ledger_file: ledger_file.mark("zzz", LedgerChange(state="open")), "no fix zzz in the ledger"),
        (
            lambda ledger_file: ledger_file.mark("kn", LedgerChange(state="open")),
            "kn matches several fixes: knn, knn-2",
        ),
        (lambda ledger_file: ledger_file.mark("knn", LedgerChange()), "nothing to change"),
        (lambda ledger_file: ledger_file.mark("knn", LedgerChange(state="merged")), "merged needs a link"),
        (lambda ledger_file: ledger_file.mark("knn", LedgerChange(links=("mailto:a@b",))), "is not a link"),
        (lambda ledger_file: ledger_file.add("x" * 300, LedgerChange()), "dependency"),
    ],
)
def test_what_cannot_be_noted_is_reported_in_one_line_and_changes_nothing(ledger_file, act, message):
    ledger_file.add("knn", LedgerChange())
    ledger_file.add("knn-2", LedgerChange())
    before = ledger_file.path.read_bytes()

    with pytest.raises(UserError, match=message):
        act(ledger_file)

    assert ledger_file.path.read_bytes() == before


def test_a_write_that_cannot_finish_leaves_the_old_ledger(ledger_file, monkeypatch):
    ledger_file.add("knn", LedgerChange())
    before = ledger_file.path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UserError, match="No space left on device"):
        ledger_file.add("gsplat", LedgerChange())

    assert ledger_file.path.read_bytes() == before
    assert {path.name for path in ledger_file.path.parent.iterdir()} == {"ledger.json", "ledger.json.lock"}


def test_where_nothing_was_noted_it_is_empty_and_nothing_is_written(ledger_file):
    assert ledger_file.read().fixes == ()
    assert list(ledger_file.path.parent.iterdir()) == []


def test_processes_at_once_lose_nothing(tmp_path):
    path = tmp_path / "ledger.json"
    work = (
        "import functools, sys, pathlib\nfrom rocm3d.evidence import ledger\n"
        "from rocm3d.evidence.ledger import LedgerChange, LedgerFile\n"
        f"ledger.file_lock = functools.partial(ledger.file_lock, seconds={DEADLINE})\n"
        "book = LedgerFile.open(pathlib.Path(sys.argv[1]), print)\n"
        "for n in range(8):\n"
        "    book.add(f'fix-{sys.argv[2]}-{n}', LedgerChange())\n"
        "    book.mark('shared', LedgerChange(repositories=(f'repo-{sys.argv[2]}-{n}',)))\n"
    )
    LedgerFile.open(path, print).add("shared", LedgerChange())
    with ExitStack() as stack:
        running = [stack.enter_context(Program([sys.executable, "-c", work, path, str(n)])) for n in range(3)]

        assert [wait_for_exit(process) for process in running] == [0, 0, 0]
    fixes = {fix.id: fix for fix in LedgerFile.open(path, print).read().fixes}
    assert len(fixes) == 3 * 8 + 1
    assert len(fixes["shared"].repositories) == 3 * 8


def test_the_same_lines_in_another_repository_are_the_same_fix(ledger_file):
    first = ledger_file.enter(KNN, "ab" * 32, "splats")
    ledger_file.mark("simple-knn", LedgerChange(state="merged", links=(PULL,), note="in 1.2"))
    again = ledger_file.enter(KNN, "ab" * 32, "meshes")

    assert first.id == again.id == "simple-knn-abababab"
    assert (again.state, again.links, again.repositories) == ("merged", (PULL,), ("splats", "meshes"))
    assert again.what == "ballot-64-bit"
    assert ledger_file.enter(KNN, "cd" * 32, "splats").id == "simple-knn-cdcdcdcd"


def test_noting_the_same_again_changes_no_day(ledger_file):
    ledger_file.enter(KNN, "ab" * 32, "splats")
    old = ledger_file.read().fixes[0].model_copy(update={"first": date(2026, 1, 1), "changed": date(2026, 1, 1)})
    ledger_file.path.write_text(Ledger(fixes=(old,)).to_json())

    assert str(ledger_file.enter(KNN, "ab" * 32, "splats").changed) == "2026-01-01"
    assert str(ledger_file.enter(KNN, "ab" * 32, "meshes").changed) != "2026-01-01"


def test_open_fixes_come_first_and_of_those_what_unblocks_the_most(ledger_file):
    ledger_file.add("a", LedgerChange())
    ledger_file.add("b", LedgerChange(repositories=("x", "y")))
    ledger_file.add("c", LedgerChange(repositories=("x",), links=(PULL,)))
    ledger_file.mark("c", LedgerChange(state="merged"))

    assert ["b", "a", "c"] == [fix.id for fix in ledger_file.read().fixes]


@given(st.text(max_size=100))
def test_any_name_gives_an_id(name):
    assert Fix.model_validate({"id": slug(name), "dependency": "x", "first": "2026-01-01", "changed": "2026-01-01"})
