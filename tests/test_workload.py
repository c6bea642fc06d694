from __future__ import annotations

import sys

import pytest

from rocm3d.evidence.check import check
from rocm3d.model.failure import MachineLacks, UserError
from rocm3d.model.run import RunRecord
from rocm3d.workload import RUN, Workload, expected, new_folder, run_workload


def test_an_expectation_that_could_never_be_met_is_refused(knowledge):
    with pytest.raises(UserError, match="no key 'a'"):
        expected(["seconds < 5", "a = 1"], knowledge)


def test_an_earlier_run_of_that_name_stays(tmp_path):
    assert [new_folder(tmp_path, "a b/../c").name for _ in range(3)] == ["a-b-..-c", "a-b-..-c-2", "a-b-..-c-3"]
    assert new_folder(tmp_path, "../..").parent == tmp_path / ".rocm3d" / "runs"


def test_a_program_that_never_started_leaves_no_folder(knowledge, tmp_path):
    into = new_folder(tmp_path, "a")
    with pytest.raises(MachineLacks):
        run_workload(Workload(("nobody-has-this",), "a", tmp_path, 9.0), into, knowledge)

    assert not into.exists()


def test_a_fault_of_ours_after_the_run_loses_nothing_that_it_printed(knowledge, tmp_path, monkeypatch):
    def fault(*_):
        raise ValueError("ours")

    monkeypatch.setattr("rocm3d.record.run.manifest", fault)
    into = new_folder(tmp_path, "a")
    with pytest.raises(ValueError, match="ours"):
        run_workload(Workload((sys.executable, "-c", "print('hours of work')"), "a", tmp_path, 60.0), into, knowledge)

    assert (into / "output.txt").read_text() == "hours of work\n"
    with pytest.raises(UserError, match="half-written"):
        check(into)


def test_what_came_out_is_looked_at_and_expectations_are_judged(knowledge, tmp_path):
    program = (
        "header = 'ply\\nformat ascii 1.0\\nelement vertex 2\\n'\n"
        "header += 'property float x\\nproperty float y\\nproperty float z\\nend_header\\n'\n"
        "open('good.ply', 'w').write(header + '0 0 0\\n1 1 1\\n')\n"
        "open('bad.npz', 'w').write('no archive')\n"
        "open('notes.txt', 'w').write('no artifact')\n"
    )
    into = new_folder(tmp_path, "a")
    wanted = expected(["points = 2", "points > 2", "exit_code = 0"], knowledge)
    record = run_workload(Workload((sys.executable, "-c", program), "a", tmp_path, 60.0), into, knowledge, wanted)

    assert [(item.path, item.outcome) for item in record.artifacts] == [("bad.npz", "bad"), ("good.ply", "ok")]
    assert [item.met for item in record.expectations] == [True, False, True]
    assert not record.passed
    assert RunRecord.from_json((into / RUN).read_text(), RUN) == record
    assert check(into).altered == ()
    assert (into / "files" / "good.ply").is_file()
