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

from rocm3d.evidence.ledger import Book, LedgerChange, slug
from rocm3d.model.failure import UserError
from rocm3d.model.ledger import Fix, Ledger
from rocm3d.model.upstream import EditedFile, Proposal

PULL = "https://github.com/acme/knn/pull/7"
KNN = Proposal(name="Simple KNN", part="submodule", edited=(EditedFile(path="a.cu", recipes=("ballot-64-bit",)),))


@pytest.fixture
def said():
    return []


@pytest.fixture
def book(tmp_path, said):
    """The user's own ledger."""
    return Book(tmp_path / "ledger.json", named=False, say=said.append)


def test_a_ledger_of_a_newer_schema_is_refused_and_stays(book):
    text = json.dumps({"schema_version": "9.0", "tool_version": "9.9", "kind": "ledger", "fixes": []})
    book.place.write_text(text)

    with pytest.raises(UserError, match=r"has schema 9\.0"):
        book.add("knn", LedgerChange())

    assert book.place.read_text() == text


@pytest.mark.parametrize("text", ["", "not json", '{"schema_version": "1.0", "verdicts": []}', "[1]"])
def test_a_file_that_was_named_and_is_no_ledger_is_not_touched(tmp_path, said, text):
    place = tmp_path / "plan.json"
    place.write_text(text)

    with pytest.raises(UserError, match="is not a rocm3d ledger"):
        Book.at(place, said.append).add("knn", LedgerChange())

    assert place.read_text() == text
    assert not said


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
def test_a_damaged_ledger_is_put_aside_with_one_line(book, said, damage):
    book.add("knn", LedgerChange())
    bytes_ = damage(book.place.read_bytes())
    book.place.write_bytes(bytes_)

    with pytest.raises(UserError):
        book.read()
    book.add("gsplat", LedgerChange())

    (aside,) = book.place.parent.glob("ledger.json.damaged-*")
    assert aside.read_bytes() == bytes_
    assert [f"the ledger is damaged. It was renamed to {aside}; starting a new one"] == said
    assert ["gsplat"] == [fix.id for fix in book.read().fixes]


def test_a_named_ledger_that_was_cut_off_is_known_for_ours_and_put_aside(tmp_path, said):
    book = Book.at(tmp_path / "team.json", said.append)
    book.add("knn", LedgerChange())
    book.place.write_bytes(book.place.read_bytes()[:-40])

    book.add("gsplat", LedgerChange())

    assert len(said) == 1


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda book: book.add("knn", LedgerChange()), "knn is already in the ledger"),
        (lambda book: book.mark("zzz", LedgerChange(state="open")), "no fix zzz in the ledger"),
        (lambda book: book.mark("kn", LedgerChange(state="open")), "kn matches several fixes: knn, knn-2"),
        (lambda book: book.mark("knn", LedgerChange()), "nothing to change"),
        (lambda book: book.mark("knn", LedgerChange(state="merged")), "merged needs a link"),
        (lambda book: book.mark("knn", LedgerChange(links=("mailto:a@b",))), "is not a link"),
        (lambda book: book.add("x" * 300, LedgerChange()), "dependency"),
    ],
)
def test_what_cannot_be_noted_is_said_in_one_line_and_changes_nothing(book, act, message):
    book.add("knn", LedgerChange())
    book.add("knn-2", LedgerChange())
    before = book.place.read_bytes()

    with pytest.raises(UserError, match=message):
        act(book)

    assert book.place.read_bytes() == before


def test_a_write_that_cannot_finish_leaves_the_old_ledger(book, monkeypatch):
    book.add("knn", LedgerChange())
    before = book.place.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UserError, match="No space left on device"):
        book.add("gsplat", LedgerChange())

    assert book.place.read_bytes() == before
    assert {path.name for path in book.place.parent.iterdir()} == {"ledger.json", "ledger.json.lock"}


def test_where_nothing_was_noted_it_is_empty_and_nothing_is_written(book):
    assert book.read().fixes == ()
    assert list(book.place.parent.iterdir()) == []


def test_processes_at_once_lose_nothing(tmp_path):
    place = tmp_path / "ledger.json"
    work = (
        "import functools, sys, pathlib\nfrom rocm3d.evidence import ledger\n"
        "from rocm3d.evidence.ledger import Book, LedgerChange\n"
        f"ledger.alone = functools.partial(ledger.alone, seconds={DEADLINE})\n"
        "book = Book.at(pathlib.Path(sys.argv[1]), print)\n"
        "for n in range(8):\n"
        "    book.add(f'fix-{sys.argv[2]}-{n}', LedgerChange())\n"
        "    book.mark('shared', LedgerChange(repositories=(f'repo-{sys.argv[2]}-{n}',)))\n"
    )
    Book.at(place, print).add("shared", LedgerChange())
    with ExitStack() as stack:
        running = [stack.enter_context(Program([sys.executable, "-c", work, place, str(n)])) for n in range(3)]

        assert [wait_for_exit(process) for process in running] == [0, 0, 0]
    fixes = {fix.id: fix for fix in Book.at(place, print).read().fixes}
    assert len(fixes) == 3 * 8 + 1
    assert len(fixes["shared"].repositories) == 3 * 8


def test_the_same_lines_in_another_repository_are_the_same_fix(book):
    first = book.enter(KNN, "ab" * 32, "splats")
    book.mark("simple-knn", LedgerChange(state="merged", links=(PULL,), note="in 1.2"))
    again = book.enter(KNN, "ab" * 32, "meshes")

    assert first.id == again.id == "simple-knn-abababab"
    assert (again.state, again.links, again.repositories) == ("merged", (PULL,), ("splats", "meshes"))
    assert again.what == "ballot-64-bit"
    assert book.enter(KNN, "cd" * 32, "splats").id == "simple-knn-cdcdcdcd"


def test_noting_the_same_again_changes_no_day(book):
    book.enter(KNN, "ab" * 32, "splats")
    old = book.read().fixes[0].model_copy(update={"first": date(2026, 1, 1), "changed": date(2026, 1, 1)})
    book.place.write_text(Ledger(fixes=(old,)).to_json())

    assert str(book.enter(KNN, "ab" * 32, "splats").changed) == "2026-01-01"
    assert str(book.enter(KNN, "ab" * 32, "meshes").changed) != "2026-01-01"


def test_open_fixes_come_first_and_of_those_what_unblocks_the_most(book):
    book.add("a", LedgerChange())
    book.add("b", LedgerChange(repositories=("x", "y")))
    book.add("c", LedgerChange(repositories=("x",), links=(PULL,)))
    book.mark("c", LedgerChange(state="merged"))

    assert ["b", "a", "c"] == [fix.id for fix in book.read().fixes]


@given(st.text(max_size=100))
def test_any_name_gives_an_id(name):
    assert Fix.model_validate({"id": slug(name), "dependency": "x", "first": "2026-01-01", "changed": "2026-01-01"})
