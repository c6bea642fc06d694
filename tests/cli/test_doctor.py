"""rocm3d doctor on fake machines, with the exit codes for scripts."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

MACHINES = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "host" / "machines.py")))


@pytest.fixture
def saved_snapshot(tmp_path, knowledge):
    """Writes a snapshot of a machine to a file."""

    def write(build, **changes) -> Path:
        root, path = tmp_path / "root", tmp_path / "machine.json"
        build(root)
        raw = {**json.loads(MACHINES.snapshot(root, knowledge).to_json()), **changes}
        path.write_text(json.dumps(raw))
        return path

    return write


def test_invalid_snapshot_is_one_line_and_exit_2(rocm3d, tmp_path):
    path = tmp_path / "machine.json"
    path.write_bytes(b"\x00\x1b[2J{")

    ended = rocm3d("doctor", "--from", path)

    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 2)
    assert "is not JSON" in ended.err
    assert "\x1b" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--save", "x.json"), "--from and --save cannot be combined"),
        (("--plan", "nowhere.json"), "--plan nowhere.json: No such file"),
    ],
)
def test_wrong_usage(rocm3d, saved_snapshot, arguments, message):
    ended = rocm3d("doctor", "--from", saved_snapshot(MACHINES.pair), *arguments)

    assert ended.code == 2
    assert message in ended.err


def test_machine_without_an_amd_gpu_exits_4(rocm3d, saved_snapshot):
    ended = rocm3d(
        "doctor", "--from", saved_snapshot(lambda root: MACHINES.system(root, "6.8.0", "Debian", "", 1 << 34, "0-3"))
    )

    assert (ended.code, ended.err) == (4, "no AMD GPU on this machine\n")


def test_notes_alone_exit_0(rocm3d, saved_snapshot):
    ended = rocm3d("doctor", "--from", saved_snapshot(MACHINES.mi300x))

    assert ended.code == 0
    assert ended.err.startswith("0 errors, 0 warnings, 3 notes; ")
    assert "note numa-balancing-on" in ended.out


def test_problems_exit_1_with_remedy_and_check(rocm3d, saved_snapshot):
    ended = rocm3d("doctor", "--from", saved_snapshot(MACHINES.pair))

    lines = ended.out.splitlines()
    start = lines.index("warning iommu-not-passed-through: The IOMMU translates addresses, and there are several GPUs")
    assert ended.code == 1
    parts = [line.split(":")[0].strip() for line in lines[start + 1 : start + 9]]
    assert parts == [*["read"] * 3, "why", *["do"] * 3, "needs root and a reboot; check"]


def test_control_characters_of_a_snapshot_are_replaced(rocm3d, saved_snapshot):
    path = saved_snapshot(MACHINES.pair, system="evil\x1b[2J\u202e", variables={"HIP_PLATFORM": "nvidia\x07"})

    ended = rocm3d("doctor", "--from", path)

    assert "\x1b" not in ended.out + ended.err
    assert "\u202e" not in ended.out
    assert "\x07" not in ended.out


def test_markdown(rocm3d, saved_snapshot):
    ended = rocm3d("doctor", "--from", saved_snapshot(MACHINES.pair), "--format", "markdown")

    assert ended.code == 1
    assert "## warning: A card has few PCIe lanes (`narrow-link`)" in ended.out


def test_plan_is_named_and_checked(rocm3d, saved_snapshot, example):
    repository = example("splat-trainer")
    assert rocm3d("plan", repository, "--gpu", "mi300x").code in (0, 1)

    ended = rocm3d("doctor", "--from", saved_snapshot(MACHINES.pair), "--plan", repository, "--format", "json")

    result = {item["id"]: item for item in json.loads(ended.out)["problems"]}
    assert "gfx942" in json.loads(ended.out)["plan"]
    assert result["plan-for-another-gpu"]["read"] == ["the plan is for gfx942", "machine: gfx1036, gfx1100"]


def test_this_machine_is_saved_and_diagnosed_again(rocm3d, tmp_path):
    path = tmp_path / "machine.json"

    first = rocm3d("doctor", "--save", path, cwd=tmp_path)
    again = rocm3d("doctor", "--from", path)

    assert first.code in (0, 1, 4)
    assert (again.code, again.out) == (first.code, first.out)
