from __future__ import annotations

import hashlib
import json
from datetime import datetime, timezone

import pytest

from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE, BundleContents, write
from rocm3d.model.artifact import Artifact
from rocm3d.model.base import SCHEMA_VERSION
from rocm3d.model.run import Manifest, RunRecord

VERSION = f'"schema_version": "{SCHEMA_VERSION}"'


def recorded(seconds=2.0, **values):
    splat = Artifact(path="a.ply", kind="splat", format="PLY", outcome="ok", metrics={"gaussians": 50000})
    first = RunRecord(
        name="train", command=("python", "train.py"), started=datetime(2026, 11, 15, tzinfo=timezone.utc),
        seconds=seconds, limit=9, status="finished", exit_code=0, manifest=Manifest(machine="Linux"),
        artifacts=(splat,),
    )  # fmt: skip
    return first.model_copy(update=values)


@pytest.fixture
def bundle(tmp_path):
    def make(name="b", **values):
        write(BundleContents(runs=(recorded(**values),), files={"files/output.txt": b"done\n"}), tmp_path / name)
        return tmp_path / name

    return make


def test_a_tampered_bundle_exits_1_and_names_the_file(rocm3d, bundle):
    path = bundle()
    (path / "files" / "output.txt").write_text("all fine\n")

    ended = rocm3d("evidence", "check", path)

    assert ended.code == 1
    assert ended.out.startswith("files/output.txt: changed since it was sealed\n")
    assert "was changed after it was sealed; files affected: 1" in ended.err


def test_a_half_written_bundle_exits_2_with_one_line(rocm3d, bundle):
    path = bundle()
    (path / UNFINISHED_FILE).touch()

    ended = rocm3d("evidence", "check", path)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[0] == f"rocm3d: {path} is incomplete: writing it was interrupted"


def test_a_bundle_of_a_newer_schema_exits_2_and_names_it(rocm3d, bundle):
    path = bundle()
    data = (path / EVIDENCE_FILE).read_bytes().replace(VERSION.encode(), b'"schema_version": "3.0"', 1)
    (path / EVIDENCE_FILE).write_bytes(data)
    (path / SEAL_FILE).write_text(f"{hashlib.sha256(data).hexdigest()}  {EVIDENCE_FILE}\n")

    ended = rocm3d("evidence", "check", path)

    assert ended.code == 2
    assert "evidence.json has schema 3.0; rocm3d" in ended.err.splitlines()[0]


def test_expected_digest_is_compared(rocm3d, bundle):
    assert rocm3d("evidence", "check", bundle(), "--digest", "0" * 64).code == 1


def test_folder_that_is_not_a_bundle_is_refused(rocm3d, tmp_path):
    ended = rocm3d("evidence", "check", tmp_path)

    assert ended.code == 2
    assert "is not an evidence bundle" in ended.err


def test_unaltered_bundle_shows_its_chain(rocm3d, bundle):
    path = bundle()

    ended = rocm3d("evidence", "check", path)
    document = rocm3d("evidence", "check", path, "--format", "json", "--quiet")

    assert ended.code == 0
    assert "train: manifest: missing: the commit and its packages could not be read" in ended.out
    assert "train: artifact: a.ply: 50,000 gaussians" in ended.out
    assert "is unchanged: 1 file; sha256" in ended.err
    assert json.loads(document.out)["altered"] == []


def test_a_worse_run_exits_1(rocm3d, bundle):
    ended = rocm3d("evidence", "diff", bundle("a"), bundle("b", status="failed", reason="exit code 3"))

    assert ended.code == 1
    assert "worse: workload: failed: exit code 3" in ended.out


def test_an_altered_bundle_is_not_compared(rocm3d, bundle):
    path = bundle()
    (path / "new.txt").touch()

    assert rocm3d("evidence", "diff", path, path).code == 2


def test_bundles_and_records_are_compared(rocm3d, bundle, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(recorded(seconds=4.0).to_json())

    ended = rocm3d("evidence", "diff", bundle(), path)
    text = rocm3d("evidence", "diff", tmp_path / "b", path, "--format", "markdown")

    assert ended.code == 0
    assert ended.err.endswith("rows differ; B is not worse than A\n")
    assert "| whole run | 2 s | 4 s | x 2 |" in text.out
