from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence import folder
from rocm3d.evidence.check import check_seal
from rocm3d.evidence.folder import (
    EVIDENCE_FILE,
    SEAL_FILE,
    UNFINISHED_FILE,
    BundleContents,
    is_inside,
    mark_unfinished,
    read,
    seal,
    write,
)
from rocm3d.model.base import SCHEMA_VERSION
from rocm3d.model.errors import UserError

VERSION = f'"schema_version": "{SCHEMA_VERSION}"'


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "a/../../x",
        "",
        ".",
        "a//b",
        "./a",
        EVIDENCE_FILE,
        SEAL_FILE,
        UNFINISHED_FILE,
        "a\\b",
        "a\0b",
        "a/",
    ],
)
def test_names_that_lead_out_or_are_ours(tmp_path, name):
    with pytest.raises(UserError, match="cannot add"):
        write(BundleContents(files={name: b"x"}), tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=12))
def test_what_is_inside_stays_inside(name):
    if is_inside(name):
        assert os.path.normpath(f"/bundle/{name}").startswith("/bundle/")


def test_a_folder_that_exists_is_not_touched(make_bundle, tmp_path):
    make_bundle()
    before = tree(tmp_path)

    with pytest.raises(UserError, match="already exists"):
        make_bundle()
    assert tree(tmp_path) == before


def test_a_source_that_is_gone_leaves_nothing_behind(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        write(BundleContents(files={"a": b"x", "b": tmp_path / "gone"}), tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_whoever_is_killed_leaves_a_folder_that_reports_it(tmp_path, make_run, monkeypatch):
    monkeypatch.setattr(folder.shutil, "rmtree", lambda *arguments, **values: None)
    monkeypatch.setattr(folder.shutil, "copyfile", lambda *arguments: os.kill(os.getpid(), 0) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(BundleContents(files={"a": b"x", "b": tmp_path}), tmp_path / "b")
    (left,) = tmp_path.iterdir()

    assert left.name.endswith(".partial")
    with pytest.raises(UserError, match=f"{left.name} is incomplete: writing it was interrupted"):
        read(left)


def test_a_bundle_without_its_seal_is_half_written(make_bundle):
    path = make_bundle()
    (path / SEAL_FILE).unlink()

    with pytest.raises(UserError, match=r"is incomplete: evidence\.sha256 is missing"):
        read(path)


def test_a_newer_schema_is_refused_in_one_line(make_bundle):
    path = make_bundle()
    text = (path / EVIDENCE_FILE).read_text().replace(VERSION, '"schema_version": "1.7"', 1)
    (path / EVIDENCE_FILE).write_text(text)

    with pytest.raises(
        UserError,
        match=rf"evidence\.json has schema 1\.7; rocm3d .* reads 1\.0 to {SCHEMA_VERSION}",
    ):
        read(path)


def test_what_is_no_bundle(tmp_path):
    with pytest.raises(UserError, match="is not a folder"):
        read(tmp_path / "nothing")
    with pytest.raises(UserError, match="is not an evidence bundle"):
        read(tmp_path)
    (tmp_path / EVIDENCE_FILE).write_text("{}")
    (tmp_path / "inventory.json").write_text("{}")
    with pytest.raises(UserError, match="is the work folder of a port, not a bundle"):
        read(tmp_path)


def test_same_inputs_give_the_same_bytes(make_bundle, make_run, tmp_path):
    runs = make_run("b"), make_run("a")
    first = make_bundle("one", runs=runs, files={"x/1": b"1", "a": b"2"})
    two = make_bundle("two", runs=runs[::-1], files={"a": b"2", "x/1": b"1"})

    assert tree(first) == tree(two)


def test_runs_of_one_name_stand_by_time(make_run, make_bundle):
    early = make_run(started=datetime(2025, 1, 1, tzinfo=timezone.utc))
    bundle, _ = read(make_bundle(runs=(make_run(), early)))

    assert [run.started.year for run in bundle.runs] == [2025, 2026]


def test_a_bundle_holds_what_was_put_in(make_bundle, documents, tmp_path):
    plan, _, _ = documents()
    (tmp_path / "big.bin").write_bytes(b"x" * 3_000_000)
    path = make_bundle(documents={"plan.json": plan.to_json().encode()}, files={"files/big.bin": tmp_path / "big.bin"})

    bundle, data = read(path)

    assert [entry.path for entry in bundle.files] == ["documents/plan.json", "files/big.bin"]
    assert bundle.files[1].sha256 == hashlib.sha256(b"x" * 3_000_000).hexdigest()
    assert (bundle.repository, bundle.stages[0].stage, bundle.chains[0].missing) == ("repo", "plan", ())
    assert (path / EVIDENCE_FILE).read_bytes() == data
    assert sorted(tree(path)) == sorted([*(entry.path for entry in bundle.files), EVIDENCE_FILE, SEAL_FILE])


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="not run: sha256sum is not installed")
def test_the_seal_is_one_that_others_can_check(make_bundle):
    ended = subprocess.run(
        ["sha256sum", "-c", SEAL_FILE], cwd=make_bundle(), capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, "evidence.json: OK\n")


def test_a_folder_that_fills_is_half_written_until_it_is_sealed(tmp_path, make_run):
    mark_unfinished(tmp_path)
    (tmp_path / "output.txt").write_text("step 1\n")
    with pytest.raises(UserError, match="is incomplete: writing it was interrupted"):
        read(tmp_path)

    bundle = seal(tmp_path, BundleContents(runs=(make_run(),), files={"files/a": b"x"}))

    assert [entry.path for entry in bundle.files] == ["files/a", "output.txt"]
    assert check_seal(tmp_path).altered == ()


def test_sealing_is_repeatable(tmp_path, make_run):
    contents = BundleContents(runs=(make_run(),), files={"files/a": b"x"})
    seal(tmp_path, contents)
    before = tree(tmp_path)
    seal(tmp_path, contents)

    assert tree(tmp_path) == before


def test_a_link_in_the_folder_is_refused(tmp_path):
    (tmp_path / "latest").symlink_to("/etc")

    with pytest.raises(UserError, match="a bundle may contain only files"):
        seal(tmp_path, BundleContents())


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        seal(tmp_path / "gone", BundleContents())


def test_a_bundle_without_a_run_lists_everything_as_missing(make_bundle):
    bundle, _ = read(make_bundle(runs=()))

    assert len(bundle.chains[0].missing) == 5
