"""Documents are written atomically, and read back or refused in one line."""

from __future__ import annotations

import contextlib
import os
import resource

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.evidence import Evidence
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.workspace.documents import DOCUMENT_FILES, Documents, write_atomically

VERDICTS = Verdicts(
    repository="r",
    targets=("gfx942",),
    verdicts=(Verdict(level="static", probe="find_leftovers", outcome="passed", looked_at=("ü.py",)),),
)


@pytest.mark.parametrize(
    ("kind", "name", "stage"),
    [
        (Scan, "inventory.json", "scan"),
        (Plan, "plan.json", "plan"),
        (Patch, "patch.json", "apply"),
        (Verdicts, "verdicts.json", "verify"),
        (Evidence, "evidence.json", "report"),
    ],
)
def test_missing_document_names_the_stage_to_run(tmp_path, kind, name, stage):
    documents = Documents(tmp_path)
    assert documents.find(kind) is None
    with pytest.raises(UserError, match=f"has no {name}") as failure:
        documents.read(kind)
    assert failure.value.hint == f"run `rocm3d {stage} PATH` first"


def test_every_kind_of_document_has_its_own_file():
    assert set(DOCUMENT_FILES) == {kind.__name__ for kind in (Scan, Plan, Patch, Verdicts, Evidence)}
    assert len({name for name, _ in DOCUMENT_FILES.values()}) == len(DOCUMENT_FILES)


def test_broken_document_names_its_file(tmp_path):
    (tmp_path / "verdicts.json").write_text("{")
    with pytest.raises(UserError, match=r"verdicts\.json is not JSON"):
        Documents(tmp_path).read(Verdicts)


def test_document_that_is_not_utf8_is_refused_in_one_line(tmp_path):
    (tmp_path / "verdicts.json").write_bytes(b'{"schema_version": "1.0", "repository": "\xff"}')
    with pytest.raises(UserError, match=r"verdicts\.json"):
        Documents(tmp_path).read(Verdicts)


def test_document_of_another_stage_is_refused(tmp_path):
    (tmp_path / "plan.json").write_text(VERDICTS.to_json())
    with pytest.raises(UserError, match=r"plan\.json: "):
        Documents(tmp_path).read(Plan)


def test_folder_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"cannot write .*verdicts\.json: No such file or directory") as failure:
        Documents(tmp_path / "gone").write(VERDICTS)
    assert "--work" in failure.value.hint


def test_failed_write_leaves_the_old_document(tmp_path):
    """The file size limit of 4 KiB simulates a full disk."""
    documents = Documents(tmp_path)
    documents.write(VERDICTS)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(UserError, match="cannot write"):
            documents.write(VERDICTS.model_copy(update={"repository": "r" * 10_000}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert documents.read(Verdicts) == VERDICTS


def test_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path):
    """A hostile repository can contain .rocm3d/verdicts.json.new as a link."""
    work, victim = tmp_path / "work", tmp_path / "victim"
    work.mkdir()
    victim.write_text("precious")
    (work / "verdicts.json.new").symlink_to(victim)
    with contextlib.suppress(UserError):
        Documents(work).write(VERDICTS)
    assert victim.read_text() == "precious"


def test_link_in_the_place_of_the_document_is_replaced_and_not_written_through(tmp_path):
    work, victim = tmp_path / "work", tmp_path / "victim"
    work.mkdir()
    victim.write_text("precious")
    (work / "verdicts.json").symlink_to(victim)
    Documents(work).write(VERDICTS)
    assert victim.read_text() == "precious"
    assert Documents(work).read(Verdicts) == VERDICTS


def test_written_document_is_read_back_equal(tmp_path):
    documents = Documents(tmp_path)
    assert documents.write(VERDICTS) == tmp_path / "verdicts.json" == documents.path(Verdicts)
    assert documents.read(Verdicts) == VERDICTS
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.json"]


def test_text_is_utf8_and_replaces_the_old(tmp_path):
    path = tmp_path / "report.html"
    Documents(tmp_path).write_text(path, "old")
    assert Documents(tmp_path).write_text(path, "né\n") == path
    assert path.read_bytes() == "né\n".encode()


def test_durable_write_is_synced_before_the_replacement(tmp_path, monkeypatch):
    path = tmp_path / "ledger.json"
    path.write_text("old", encoding="utf-8")
    at_sync = []
    monkeypatch.setattr(os, "fsync", lambda _: at_sync.append(path.read_text(encoding="utf-8")))

    write_atomically(path, lambda temporary: temporary.write_text("new", encoding="utf-8"), durable=True)

    assert at_sync == ["old"]
    assert path.read_text(encoding="utf-8") == "new"


def test_a_written_document_is_handed_on_and_a_changed_file_is_read(tmp_path):
    documents = Documents(tmp_path)
    path = documents.write(VERDICTS)
    assert documents.read(Verdicts) is VERDICTS

    path.write_text(path.read_text().replace('"r"', '"other"'))
    assert documents.read(Verdicts).repository == "other"

    path.write_text("{")
    with pytest.raises(UserError, match=r"verdicts\.json is not JSON"):
        documents.read(Verdicts)
    path.unlink()
    assert documents.find(Verdicts) is None
