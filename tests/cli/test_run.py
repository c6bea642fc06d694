from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from processes import Program
from waiting import output_of, wait_for_file, wait_until_gone

WORKLOAD = """
try:
    import flash_attn
except ImportError:
    flash_attn = None
import torch, torch.nn.functional as F
q = torch.randn(1, 2, 16, 8)
layer = torch.nn.Linear(8, 8)
steps = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(3):
    layer(F.scaled_dot_product_attention(q, q, q)).sum().backward()
    steps.step()
header = "ply\\nformat ascii 1.0\\nelement vertex 2\\n"
header += "property float x\\nproperty float y\\nproperty float z\\nend_header\\n"
open("out.ply", "w").write(header + "0 0 0\\n1 1 1\\n")
print("done")
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", "soon"], "--limit 'soon' is not a duration"),
        (["--limit", "0s"], "--limit '0s' is not a duration"),
        (["--expect", "gausians >= 5"], "unknown key 'gausians'"),
        (["--format", "sarif"], "--format sarif is not supported here"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(rocm3d, tmp_path, options, message):
    ended = rocm3d("run", *options, "--", sys.executable, "-c", "open('ran', 'w')", cwd=tmp_path)

    assert ended.code == 2
    assert message in ended.err
    assert list(tmp_path.iterdir()) == []


def test_no_program_is_refused(rocm3d, tmp_path):
    assert rocm3d("run", cwd=tmp_path).code == 2


def test_missing_program_exits_4_and_writes_nothing(rocm3d, tmp_path):
    ended = rocm3d("run", "--", "nobody-has-this", cwd=tmp_path)

    assert ended.code == 4
    assert not list((tmp_path / ".rocm3d" / "runs").iterdir())


def test_failing_program_exits_1_and_is_recorded(rocm3d, tmp_path):
    ended = rocm3d("run", "--name", "bad", "--", sys.executable, "-c", "raise ValueError('no')", cwd=tmp_path)

    assert ended.code == 1
    assert "bad: failed" in ended.err
    assert "ValueError: no" in (tmp_path / ".rocm3d" / "runs" / "bad" / "output.txt").read_text()
    assert rocm3d("evidence", "check", tmp_path / ".rocm3d" / "runs" / "bad").code == 0


@pytest.mark.parametrize(
    ("options", "program", "status"),
    [
        ([], "import os; os.kill(os.getpid(), 9)", "killed"),
        (["--limit", "0.5s"], "import time; time.sleep(3600)", "timed_out"),
        ([], "raise MemoryError('no more')", "out_of_memory"),
    ],
)
def test_every_ending_is_recorded_in_a_complete_bundle(rocm3d, tmp_path, options, program, status):
    ended = rocm3d(
        "run", "--name", "a", *options, "--format", "json", "--", sys.executable, "-c", program, cwd=tmp_path
    )

    assert ended.code == 1
    assert json.loads(ended.out)["status"] == status
    assert rocm3d("evidence", "check", tmp_path / ".rocm3d" / "runs" / "a").code == 0


def test_ctrl_c_leaves_a_complete_bundle_and_no_process(rocm3d, tmp_path):
    command = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "run", "--name", "a", "--"]
    script = "echo $$ > pid; sleep 3600"
    with Program([*command, "sh", "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as child:
        pid = int(wait_for_file(tmp_path / "pid"))
        child.send_signal(signal.SIGINT)
        _, output = output_of(child)

    assert child.returncode == 130
    assert "a: interrupted" in output
    assert rocm3d("evidence", "check", tmp_path / ".rocm3d" / "runs" / "a").code == 0
    wait_until_gone(pid)


def test_the_help_lists_the_keys(rocm3d):
    help_text = rocm3d("run", "--help").out

    assert all(word in help_text for word in ("gaussians", "step_seconds", "attention", "frames"))


def test_torch_workload_is_recorded_from_manifest_to_artifact(rocm3d, torch_python, tmp_path):
    (tmp_path / "work.py").write_text(WORKLOAD)
    ended = rocm3d(
        "run", "--expect", "attention = flash", "--expect", "points = 2", "--expect", "fallbacks = 0", "--format",
        "json", "--", torch_python, "work.py", cwd=tmp_path,
    )  # fmt: skip
    record = json.loads(ended.out)

    assert ended.code == 1  # one expectation is not met
    assert "done" in ended.err
    assert (record["name"], record["status"]) == ("work", "finished")
    assert record["manifest"]["torch"].startswith("2.")
    assert {item["name"] for item in record["manifest"]["packages"]} >= {"torch", "sympy"}
    # torch imports Triton if it is installed.
    assert {"torch"} <= {item["name"] for item in record["modules"]} <= {"torch", "triton"}
    assert [(item["module"], item["where"]) for item in record["fallbacks"]] == [("flash_attn", "work.py:3")]
    assert record["backends"] == {"attention": ["torch SDPA flash (cpu)"]}
    assert record["steps"][0]["count"] == 3
    assert [(item["path"], item["outcome"]) for item in record["artifacts"]] == [("out.ply", "ok")]
    assert [item["met"] for item in record["expectations"]] == [True, True, False]
    assert [item["link"] for item in record["missing"]] == ["kernels"]


@pytest.mark.engines
def test_ranks_of_torchrun_in_a_shell_script_are_recorded(rocm3d, torch_python, tmp_path):
    (tmp_path / "work.py").write_text(WORKLOAD)
    run = f"{torch_python} -m torch.distributed.run --nproc-per-node 2 --master-port 0 work.py"
    (tmp_path / "go.sh").write_text(f"set -e\ncd .\n{run}\n")
    ended = rocm3d("run", "--expect", "attention = flash", "--format", "json", "--", "sh", "go.sh", cwd=tmp_path)
    record = json.loads(ended.out)

    assert (ended.code, record["name"], record["status"]) == (0, "go", "finished")
    assert sum(item["calls"] for item in record["attention"]) == 6  # three of each rank
    assert [item["path"] for item in record["artifacts"]] == ["out.ply"]


def test_workload_of_a_known_repository_is_checked_against_its_record(rocm3d, knowledge, tmp_path):
    port = knowledge.ports["trellis"]
    for mark in port.marks:
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).write_text("")
    (tmp_path / "example.py").write_text("print('nothing comes of it')\n")

    ended = rocm3d("run", "--", "python3", "example.py", cwd=tmp_path)

    assert ended.code == 1
    output = "gaussians > 0: not measured in this run (expected by microsoft/TRELLIS@6b0d6475 example.py, 2026-11-15)"
    assert f"not met    {output}" in ended.out
