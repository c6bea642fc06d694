from __future__ import annotations

import sys

import pytest

from rocm3d.evidence.check import check_seal
from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.run import RunRecord
from rocm3d.workload import (
    RUN,
    RunRequest,
    known_expectations,
    new_run_folder,
    read_expectations,
    repository_of,
    run_workload,
)
from rocm3d.workspace.tree import source_digest


def test_an_expectation_that_could_never_be_met_is_refused(knowledge):
    with pytest.raises(UserError, match="unknown key 'a'"):
        read_expectations(["seconds < 5", "a = 1"], knowledge)


def test_an_earlier_run_of_that_name_stays(tmp_path):
    assert [new_run_folder(tmp_path, "a b/../c").name for _ in range(3)] == ["a-b-..-c", "a-b-..-c-2", "a-b-..-c-3"]
    assert new_run_folder(tmp_path, "../..").parent == tmp_path / ".rocm3d" / "runs"


def test_a_program_that_never_started_leaves_no_folder(knowledge, tmp_path):
    into = new_run_folder(tmp_path, "a")
    with pytest.raises(MachineError):
        run_workload(RunRequest(("nobody-has-this",), "a", tmp_path, 9.0), into, knowledge)

    assert not into.exists()


def test_an_internal_error_after_the_run_keeps_its_output(knowledge, tmp_path, monkeypatch):
    def fault(*_):
        raise ValueError("ours")

    monkeypatch.setattr("rocm3d.record.run.manifest", fault)
    into = new_run_folder(tmp_path, "a")
    with pytest.raises(ValueError, match="ours"):
        run_workload(RunRequest((sys.executable, "-c", "print('hours of work')"), "a", tmp_path, 60.0), into, knowledge)

    assert (into / "output.txt").read_text() == "hours of work\n"
    with pytest.raises(UserError, match="is incomplete"):
        check_seal(into)


def test_artifacts_are_checked_and_expectations_evaluated(knowledge, tmp_path):
    program = (
        "header = 'ply\\nformat ascii 1.0\\nelement vertex 2\\n'\n"
        "header += 'property float x\\nproperty float y\\nproperty float z\\nend_header\\n'\n"
        "open('good.ply', 'w').write(header + '0 0 0\\n1 1 1\\n')\n"
        "open('bad.npz', 'w').write('no archive')\n"
        "open('notes.txt', 'w').write('no artifact')\n"
    )
    into = new_run_folder(tmp_path, "a")
    expectations = read_expectations(["points = 2", "points > 2", "exit_code = 0"], knowledge)
    record = run_workload(
        RunRequest((sys.executable, "-c", program), "a", tmp_path, 60.0), into, knowledge, expectations
    )

    assert [(item.path, item.outcome) for item in record.artifacts] == [("bad.npz", "bad"), ("good.ply", "ok")]
    assert [item.met for item in record.expectations] == [True, False, True]
    assert not record.passed
    assert RunRecord.from_json((into / RUN).read_text(), RUN) == record
    assert check_seal(into).altered == ()
    assert (into / "files" / "good.ply").is_file()


@pytest.fixture
def trellis(knowledge, tmp_path):
    """A folder that is known as TRELLIS, and the workload of its record."""
    port = knowledge.ports["trellis"]
    for mark in port.marks:
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).write_text("")
    return port.workload.command


def test_record_does_not_apply_to_another_repository_or_command(knowledge, trellis, tmp_path):
    (tmp_path / "elsewhere").mkdir()

    assert known_expectations(trellis, tmp_path / "elsewhere", knowledge) == ()
    assert known_expectations(("python", "train.py"), tmp_path, knowledge) == ()


def test_record_applies_to_the_workload_of_a_known_repository(knowledge, trellis, tmp_path):
    first, *others = known_expectations(trellis, tmp_path, knowledge, read_expectations(["seconds < 5"], knowledge))

    assert (str(first), first.source) == ("gaussians > 0", "microsoft/TRELLIS@6b0d6475 example.py, 2026-11-15")
    assert {entry.key for entry in others} == {"textures", "constant_textures"}


def test_requested_expectation_replaces_that_of_the_record(knowledge, trellis, tmp_path):
    result = known_expectations(trellis, tmp_path, knowledge, read_expectations(["gaussians > 5"], knowledge))

    assert {entry.key for entry in result} == {"textures", "constant_textures"}


def test_a_folder_is_its_own_repository_unless_one_above_has_a_plan(tmp_path):
    inner = tmp_path / "sub" / "deeper"
    inner.mkdir(parents=True)

    assert repository_of(inner) == inner
    (tmp_path / ".rocm3d").mkdir()
    assert repository_of(inner) == inner
    (tmp_path / ".rocm3d" / "plan.json").touch()
    assert repository_of(inner) == repository_of(tmp_path) == tmp_path


def test_a_run_in_a_subfolder_has_the_state_of_the_repository(knowledge, tmp_path):
    inner = tmp_path / "sub"
    inner.mkdir()
    (tmp_path / "lib.py").write_text("a = 1\n")
    before, into = source_digest(tmp_path), new_run_folder(tmp_path, "a")
    program = (sys.executable, "-c", "open('copy.py', 'w').write('a')")

    record = run_workload(RunRequest(program, "a", inner, 60.0, repository=tmp_path), into, knowledge)

    assert (record.manifest.folder, record.manifest.sources) == ("sub", before)
    assert [entry.path for entry in record.files] == ["copy.py"]
    again = run_workload(
        RunRequest(program, "a", inner, 60.0, repository=tmp_path), new_run_folder(tmp_path, "a"), knowledge
    )
    assert again.manifest.sources == before  # what the first one wrote is no code of the repository
