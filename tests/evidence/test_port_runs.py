from __future__ import annotations

import pytest

from rocm3d.evidence.folder import BundleContents, write
from rocm3d.evidence.port_runs import port_runs, written_by_earlier_runs, written_paths
from rocm3d.model.evidence import SealedFile
from rocm3d.model.run import ExpectationResult
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.tree import file_digest, source_digest


@pytest.fixture
def keep(tmp_path, make_run):
    """A repository with one script: stores a run of it as a bundle, and reads the runs of the port."""
    root, work = tmp_path / "repo", tmp_path / "repo" / ".rocm3d"
    work.mkdir(parents=True)
    (root / "train.py").write_text("import torch\n")

    def store_run(name="train", sources=None, folder="", **values):
        run = make_run(name, **values)
        known = source_digest(root) if sources is None else sources
        held = run.manifest.model_copy(update={"sources": known, "folder": folder})
        write(BundleContents(runs=(run.model_copy(update={"manifest": held}),)), work / "runs" / name)
        return work / "runs" / name

    store_run.root, store_run.work = root, work
    store_run.look = lambda: port_runs(Documents(work, trusted=True), root)
    return store_run


def test_without_stored_runs_nothing_is_returned(keep):
    assert keep.look() == ()


def test_a_half_written_bundle_has_no_record(keep):
    (keep.work / "runs" / "a").mkdir(parents=True)
    (keep.work / "runs" / "a" / "UNFINISHED").touch()

    (result,) = keep.look()

    assert (result.record, result.sealed.outcome, result.sealed.sha256) == (None, "unread", "")
    assert "is incomplete" in result.sealed.reason


def test_a_bundle_that_was_changed_is_not_believed(keep):
    path = keep()
    (path / "added.txt").write_text("x")

    (result,) = keep.look()

    assert (result.record, result.sealed.outcome) == (None, "altered")
    assert result.sealed.reason == "added.txt: added since it was sealed"


def test_a_run_of_other_code_reports_it(keep):
    keep()
    (keep.root / "train.py").write_text("import torch, sys\n")

    assert [run.sealed.of_these_sources for run in keep.look()] == [False]


def test_a_run_whose_code_was_not_read_is_unknown(keep):
    keep(sources="")

    assert [run.sealed.of_these_sources for run in keep.look()] == [None]


def test_a_sound_one_has_its_digest_outcome_and_its_missing_links(keep):
    path = keep(kernels=(), backends={})

    (result,) = keep.look()

    assert result.sealed.sha256 == file_digest(path / "evidence.json")
    assert (result.sealed.name, result.sealed.outcome, result.sealed.of_these_sources) == ("train", "finished", True)
    assert [entry.link for entry in result.sealed.missing] == ["backend", "profile"]
    assert result.record is not None


def test_what_was_not_met_is_its_reason(keep):
    keep(expectations=(ExpectationResult(expectation="steps > 5", met=False, found="3"),))

    assert keep.look()[0].sealed.reason == "not met: steps > 5 (actual: 3)"


def test_code_that_runs_have_written_is_not_the_repositorys(keep):
    keep(files=(SealedFile(path="out/copy.py", sha256="0" * 64),), folder="sub")
    (keep.root / "sub" / "out").mkdir(parents=True)
    (keep.root / "sub" / "out" / "copy.py").write_text("import torch\n")
    keep("again", sources=source_digest(keep.root, written_by_earlier_runs(Documents(keep.work, trusted=True))))

    assert [run.sealed.of_these_sources for run in keep.look()] == [True, True]
    assert written_paths(run.record for run in keep.look()) == {"sub/out/copy.py"}
