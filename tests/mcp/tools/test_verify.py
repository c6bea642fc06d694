"""verify and evidence as tools: code runs only if the server allows it."""

from __future__ import annotations

import json
import sys

import pytest

from rocm3d.mcp.tool_context import ServerOptions
from rocm3d.model.errors import UserError


@pytest.fixture
def ported(example, work):
    target = example("splat-trainer")
    work("apply", path=str(target), plan_hash=work("plan", path=str(target), gpu="mi300x").plan_hash)
    return target


def test_apply_verify_and_evidence_return_the_state(work, ported, tmp_path):
    """The summary has the rungs, without text of the repository; the names are in `state`."""
    answers = [work("verify", path=str(ported)), work("evidence", path=str(ported))]

    for answer in answers:
        edited = answer.state["rungs"][2]
        assert f"edited {edited['done']} of {edited['total']}, resolved not run" in answer.summary
        assert "csrc" not in answer.summary
        assert "left_for_person" not in answer.summary
    assert answers[0].state == answers[1].state == answers[1].document["state"]


def test_a_level_is_updated_and_only_that_is_returned(work, ported):
    work("verify", path=str(ported))
    answer = work("verify", path=str(ported), level=["workload"])

    assert {item["level"] for item in answer.document["verdicts"]} == {"workload"}
    stored = json.loads((ported / ".rocm3d" / "verdicts.json").read_text())["verdicts"]
    assert {"static", "compile", "workload"} <= {item["level"] for item in stored}


@pytest.mark.parametrize("level", ["resolve", "compile", "nvidia", "import", "backend", "numerics"])
def test_a_level_that_runs_code_is_refused(work, tmp_path, level):
    with pytest.raises(UserError, match=f"level {level}: this runs code or uses the network") as refused:
        work("verify", path=str(tmp_path), level=["static", level])

    assert refused.value.hint == "restart it with `rocm3d mcp --allow-run`"


def test_an_interpreter_in_the_repository_is_never_started(work, ported, tmp_path):
    """The .venv came with the repository, so it is untrusted."""
    trap = ported / ".venv" / "bin" / "python"
    trap.parent.mkdir(parents=True)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    answer = work("verify", path=str(ported))

    assert not (tmp_path / "ran").exists()
    reasons = {item["reason"] for item in answer.document["verdicts"] if item["level"] == "import"}
    assert reasons == {"this runs code or uses the network, and the server was started without --allow-run"}


def test_interpreter_in_the_repository_runs_only_if_named_and_allowed(work, ported, tmp_path, monkeypatch):
    trap = ported / ".venv" / "bin" / "python"
    trap.parent.mkdir(parents=True)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(trap.parents[1]))
    allowed = ServerOptions(allow_run=True)

    answer = work("verify", allowed, path=str(ported), level=["import"])
    with pytest.raises(UserError, match="python: this runs code"):
        work("verify", path=str(ported), python=str(trap))
    for outside in ("../python", "/usr/bin/python3", "a\0b"):
        with pytest.raises(UserError, match="python is not in the repository"):
            work("verify", allowed, path=str(ported), level=["import"], python=outside)

    assert not (tmp_path / "ran").exists()
    assert f"pass --python {trap}" in json.dumps(answer.document)
    work("verify", allowed, path=str(ported), level=["import"], python=".venv/bin/python")
    assert (tmp_path / "ran").exists()


def test_allow_run_uses_the_interpreter(work, ported, tmp_path, monkeypatch):
    own = tmp_path / "environment" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    monkeypatch.setenv("VIRTUAL_ENV", str(own.parents[1]))
    answer = work("verify", ServerOptions(allow_run=True), path=str(ported), level=["import"])

    assert {item["level"] for item in answer.document["verdicts"]} == {"import"}
    assert "--allow-run" not in json.dumps(answer.document)
    assert "runs only if you name it" not in json.dumps(answer.document)


def test_static_is_that_of_the_command_line_and_evidence_follows(work, rocm3d, ported):
    answer = work("verify", path=str(ported), level=["static"])
    ended = rocm3d("verify", ported, "--level", "static", "--format", "json", "-q")

    assert answer.document == json.loads(ended.out)
    assert answer.exit_code == ended.code == 0
    shown = work("evidence", path=str(ported))
    assert shown.document == json.loads(rocm3d("report", ported, "--format", "json", "-q").out)
    assert "Documents altered after they were sealed: 0" in shown.summary
    (ported / ".rocm3d" / "patch.json").write_bytes((ported / ".rocm3d" / "patch.json").read_bytes() + b" ")
    with pytest.raises(UserError, match="was changed, or was not written by you"):
        work("evidence", path=str(ported))
