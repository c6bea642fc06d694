from __future__ import annotations

import json

from rocm3d.record.manifest import manifest
from rocm3d.workspace.copy_record import CopyRecord, write_copy_record
from rocm3d.workspace.journal import FileWrite, UndoJournal


def test_manifest_without_events_has_empty_fields(knowledge, tmp_path):
    about = manifest([], tmp_path, knowledge)

    assert (about.gpu, about.torch, about.python, about.packages, about.commit) == ("", "", "", (), "")
    assert about.machine


def test_the_process_that_used_the_gpu_is_described(knowledge, tmp_path):
    lines = [
        {"kind": "process", "pid": 1, "python": "3.10.0", "executable": "/a", "path": []},
        {"kind": "process", "pid": 2, "python": "3.12.3", "executable": "/b", "path": []},
        {"kind": "status", "pid": 1},
        {"kind": "status", "pid": 2, "torch": "2.11", "hip": "7.1", "cuda": "", "gpu": "AMD Instinct MI300X",
         "gfx": "gfx942", "gpu_bytes": 5},
    ]  # fmt: skip
    about = manifest(lines, tmp_path, knowledge)

    assert (about.python, about.interpreter, about.gpu, about.gfx, about.rocm) == (
        "3.12.3", "/b", "AMD Instinct MI300X", "gfx942", "7.1",
    )  # fmt: skip


def test_packages_have_their_origin(knowledge, tmp_path):
    for name, origin in (("plain", None), ("forked", {"url": "https://u:p@h/f.git", "vcs_info": {"commit_id": "abc"}})):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        if origin:
            (folder / "direct_url.json").write_text(json.dumps(origin))
    lines = [{"kind": "process", "pid": 1, "python": "3", "executable": "", "path": [str(tmp_path), ""]}]

    packages = manifest(lines, tmp_path, knowledge).packages
    assert [(package.name, package.version, package.origin) for package in packages] == [
        ("forked", "1.0", "https://(redacted)@h/f.git@abc"),
        ("plain", "1.0", ""),
    ]


def test_only_relevant_variables_are_recorded(knowledge, tmp_path, monkeypatch):
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("MIOPEN_SOMETHING_NEW", "2")
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("MY_DIARY", "private")

    variables = manifest([], tmp_path, knowledge).variables
    assert (variables["HIP_VISIBLE_DEVICES"], variables["MIOPEN_SOMETHING_NEW"]) == ("1", "2")
    assert variables.get("HF_TOKEN", "(redacted)") == "(redacted)"
    assert "MY_DIARY" not in variables


def test_the_commit_and_what_is_not_committed(knowledge, tmp_path, git):
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "b").write_text("2")
    about = manifest([], tmp_path, knowledge)

    assert len(about.commit) == 40
    assert about.dirty == ("b",)


def test_checkout_that_git_refuses_to_read_still_has_a_manifest(knowledge, tmp_path, git):
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "index").write_bytes(b"no index")

    assert manifest([], tmp_path, knowledge).dirty is None


def test_a_copy_for_a_port_names_the_commit_of_its_source_and_every_change(knowledge, tmp_path):
    write_copy_record(tmp_path, CopyRecord(commit="c" * 40, changed=("b.py",)))
    UndoJournal.open(tmp_path).record([FileWrite("a.cu", None, b"x")])

    about = manifest([], tmp_path, knowledge)
    assert (about.commit, about.dirty) == ("c" * 40, ("a.cu", "b.py"))
