"""The worker process of one tool call."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

from rocm3d.mcp import worker


@pytest.fixture(autouse=True)
def _signals():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run_tool(tmp_path):
    def run(tool, **arguments):
        request = {"tool": tool, "arguments": arguments, "options": {}}
        (tmp_path / worker.REQUEST).write_text(json.dumps(request))
        worker.main(tmp_path)
        return json.loads((tmp_path / worker.RESPONSE).read_text())

    return run


def test_error_is_a_response(run_tool, tmp_path):
    assert run_tool("explain", word="no\u202esuch-thing")["failure"] == "no record for 'no\\u202esuch-thing'"
    assert run_tool("undo", path=str(tmp_path))["hint"] == "`rocm3d apply` has not changed this tree"


def test_bug_is_a_response(run_tool, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("oops")

    tool = worker.load_tool("explain")
    monkeypatch.setattr(worker, "load_tool", lambda _: replace(tool, work=broken))

    assert "ZeroDivisionError: oops" in run_tool("explain", word="a")["bug"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_progress_is_limited_json_lines(run_tool, example, capsys):
    answer = run_tool("scan", path=str(example("splat-trainer")))["answer"]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert answer["exit_code"] == 1
    assert 1 <= len(lines) <= 20
    assert lines[0] == {"progress": 1, "message": "README.md"}


def test_file_name_cannot_break_a_line(run_tool, tmp_path, capsys):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / 'x\n{"progress": 9}\x1b.py').write_text("import torch\n")
    run_tool("scan", path=str(tmp_path / "tree"))

    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(json.loads(line)["message"].startswith("x ") for line in lines)
