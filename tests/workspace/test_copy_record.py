from __future__ import annotations

import json

import pytest

from rocm3d.workspace.copy_record import CopyRecord, file_digests, read_copy_record, record_of, write_copy_record
from rocm3d.workspace.journal import digest
from rocm3d.workspace.submodule_sources import SubmoduleSource

RECORD = CopyRecord(commit="c" * 40, origin="https://host/a.git", changed=("a.py",))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"commit": 1}', json.dumps({"submodules": [{"path": "../x"}]})])
def test_a_record_of_somebody_else_is_not_believed(tmp_path, text):
    (tmp_path / ".rocm3d").mkdir()
    (tmp_path / ".rocm3d" / "copy.json").write_text(text)

    assert read_copy_record(tmp_path) is None


def test_a_changed_record_is_not_believed(tmp_path):
    write_copy_record(tmp_path, RECORD)
    path = tmp_path / ".rocm3d" / "copy.json"
    path.write_text(path.read_text().replace("host", "evil"))

    assert read_copy_record(tmp_path) is None


def test_a_linked_state_folder_is_not_followed(tmp_path):
    for name in ("copy", "other"):
        (tmp_path / name).mkdir()
    write_copy_record(tmp_path / "copy", RECORD)
    (tmp_path / "other" / ".rocm3d").symlink_to(tmp_path / "copy" / ".rocm3d")

    assert read_copy_record(tmp_path / "other") is None


def test_a_record_is_read_as_written(tmp_path):
    assert read_copy_record(tmp_path) is None
    write_copy_record(tmp_path, RECORD)

    assert read_copy_record(tmp_path) == RECORD


def test_a_folder_without_git_has_an_empty_record(tmp_path):
    assert record_of(tmp_path) == CopyRecord()


def test_the_record_has_commits_and_committed_files_and_no_credentials(with_submodule, git):
    root, commit = with_submodule({"a.cu": b"int a;\n", "b.cu": b"int b;\n"})
    git(root, "remote", "add", "origin", "https://me:secret@host/main.git")
    (root / "libs/knn/b.cu").write_bytes(b"mine\n")
    (root / "libs/knn/new.cu").write_bytes(b"new\n")

    record = record_of(root)

    assert record.commit == git(root, "rev-parse", "HEAD").strip()
    assert record.origin == ""
    (module,) = record.submodules
    assert (module.path, module.commit, module.is_present) == ("libs/knn", commit, True)
    assert module.files == {"a.cu": digest(b"int a;\n")}
    assert "secret" not in record.model_dump_json()


def test_a_submodule_with_credentials_in_its_url_cannot_be_fetched_later(with_submodule, git, tmp_path):
    root, _ = with_submodule({"a.cu": b""})
    git(root, "config", "--file", ".gitmodules", "submodule.libs/knn.url", "https://me:secret@host/knn.git")
    git(root, "config", "submodule.libs/knn.url", "https://me:secret@host/knn.git")
    git(root, "submodule", "--quiet", "deinit", "-f", "libs/knn")

    record = record_of(root)

    (missing,) = record.missing
    assert "credentials" in missing.problem
    assert "secret" not in record.model_dump_json()


def test_a_copy_of_a_copy_has_the_same_record(tmp_path):
    write_copy_record(tmp_path, RECORD)

    assert record_of(tmp_path) == RECORD


def test_fetched_submodules_are_recorded(tmp_path):
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "a.cu").write_bytes(b"int a;\n")
    source = SubmoduleSource("libs", "https://host/libs.git", "d" * 40)

    record = RECORD.with_fetched(tmp_path, [source])

    assert record.missing == ()
    module = record.submodule("libs")
    assert (module.commit, module.files) == ("d" * 40, {"a.cu": digest(b"int a;\n")})
    assert record.submodule("other") is None


def test_changed_files_and_folders_have_no_digest(tmp_path):
    for name in ("a", "b", "new/c", "newer"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")

    assert file_digests(tmp_path, ["b", "new/"]).keys() == {"a", "newer"}
