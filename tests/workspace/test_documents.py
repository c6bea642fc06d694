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
from rocm3d.model.review import ReviewAnswers
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.workspace.documents import DOCUMENT_FILES, Documents, ForeignFileError, write_atomically

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
    assert set(DOCUMENT_FILES) == {kind.__name__ for kind in (Scan, Plan, Patch, Verdicts, Evidence, ReviewAnswers)}
    assert len({name for name, _ in DOCUMENT_FILES.values()}) == len(DOCUMENT_FILES)


def test_broken_document_names_its_file(tmp_path):
    (tmp_path / "verdicts.json").write_text("{")
    with pytest.raises(UserError, match=r"verdicts\.json is not JSON"):
        Documents(tmp_path, trusted=True).read(Verdicts)


def test_document_that_is_not_utf8_is_refused_in_one_line(tmp_path):
    (tmp_path / "verdicts.json").write_bytes(b'{"schema_version": "1.0", "repository": "\xff"}')
    with pytest.raises(UserError, match=r"verdicts\.json"):
        Documents(tmp_path).read(Verdicts)


def test_document_of_another_stage_is_refused(tmp_path):
    (tmp_path / "plan.json").write_text(VERDICTS.to_json())
    with pytest.raises(UserError, match=r"plan\.json: "):
        Documents(tmp_path, trusted=True).read(Plan)


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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seals", "verdicts.json"]


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
    documents = Documents(tmp_path, trusted=True)
    path = documents.write(VERDICTS)
    assert documents.read(Verdicts) is VERDICTS

    path.write_text(path.read_text().replace('"r"', '"other"'))
    assert documents.read(Verdicts).repository == "other"

    path.write_text("{")
    with pytest.raises(UserError, match=r"verdicts\.json is not JSON"):
        documents.read(Verdicts)
    path.unlink()
    assert documents.find(Verdicts) is None


def test_document_of_somebody_else_is_refused(tmp_path):
    """As in a repository that contains .rocm3d/verdicts.json."""
    (tmp_path / "verdicts.json").write_text(VERDICTS.to_json())
    documents = Documents(tmp_path)

    with pytest.raises(UserError, match="was not written by you on this machine") as failure:
        documents.find(Verdicts)
    assert f"--work {tmp_path}" in failure.value.hint
    assert documents.find_own(Verdicts) is None
    assert documents.ignored == [tmp_path / "verdicts.json"]
    assert Documents(tmp_path, trusted=True).read(Verdicts) == VERDICTS


def test_document_of_another_user_with_a_seal_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "theirs"))
    (tmp_path / "work").mkdir()
    Documents(tmp_path / "work").write(VERDICTS)
    assert Documents(tmp_path / "work").read(Verdicts) == VERDICTS
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "ours"))

    with pytest.raises(ForeignFileError):
        Documents(tmp_path / "work").find(Verdicts)


def test_seal_of_one_document_is_none_of_another(tmp_path):
    Documents(tmp_path).write(VERDICTS)
    (tmp_path / "plan.json").write_bytes((tmp_path / "verdicts.json").read_bytes())
    (tmp_path / "seals" / "plan.json").write_bytes((tmp_path / "seals" / "verdicts.json").read_bytes())

    with pytest.raises(ForeignFileError):
        Documents(tmp_path).find(Plan)


def test_changed_document_is_refused_and_each_of_two_versions_is_believed(tmp_path):
    Documents(tmp_path).write(VERDICTS)
    first = (tmp_path / "verdicts.json").read_bytes()
    Documents(tmp_path).write(VERDICTS.model_copy(update={"repository": "second"}))
    assert Documents(tmp_path).read(Verdicts).repository == "second"
    (tmp_path / "verdicts.json").write_bytes(first)  # as after a crash between seal and document
    assert Documents(tmp_path).read(Verdicts) == VERDICTS
    (tmp_path / "verdicts.json").write_bytes(first + b" ")

    with pytest.raises(ForeignFileError):
        Documents(tmp_path).find(Verdicts)


def test_failed_writes_do_not_make_a_document_foreign(tmp_path):
    documents = Documents(tmp_path)
    documents.write(VERDICTS)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        for size in (10_000, 20_000, 30_000):
            with pytest.raises(UserError, match="cannot write"):
                documents.write(VERDICTS.model_copy(update={"repository": "r" * size}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert Documents(tmp_path).read(Verdicts) == VERDICTS


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "loop"])
def test_odd_file_in_the_place_of_a_document_is_one_line(tmp_path, kind):
    path, outside = tmp_path / "work" / "verdicts.json", tmp_path / "outside.json"
    path.parent.mkdir()
    outside.write_text(VERDICTS.to_json())
    {
        "link": lambda: path.symlink_to(outside),
        "folder": path.mkdir,
        "fifo": lambda: os.mkfifo(path),
        "loop": lambda: path.symlink_to(path),
    }[kind]()

    for trusted in (False, True):
        with pytest.raises(UserError, match=r"verdicts\.json") as failure:
            Documents(path.parent, trusted=trusted).find(Verdicts)
        assert "\n" not in failure.value.message


def test_linked_work_folder_is_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    Documents(tmp_path / "outside").write(VERDICTS)
    (tmp_path / ".rocm3d").symlink_to(tmp_path / "outside")

    with pytest.raises(UserError, match="is a symlink"):
        Documents(tmp_path / ".rocm3d").find(Verdicts)


def test_without_a_key_a_document_is_written_and_not_believed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "file" / "data"))
    Documents(tmp_path).write(VERDICTS)

    assert (tmp_path / "verdicts.json").is_file()
    with pytest.raises(ForeignFileError):
        Documents(tmp_path).find(Verdicts)
