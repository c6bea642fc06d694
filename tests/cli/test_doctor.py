"""rocm3d doctor on fake machines, with the exit codes for scripts."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

MACHINES = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "host" / "machines.py")))


@pytest.fixture
def saved(tmp_path, knowledge):
    """Writes a snapshot of a machine to a file."""

    def write(build, **changes) -> Path:
        root, place = tmp_path / "root", tmp_path / "machine.json"
        build(root)
        raw = {**json.loads(MACHINES.snapshot(root, knowledge).to_json()), **changes}
        place.write_text(json.dumps(raw))
        return place

    return write


def test_garbage_is_one_line_and_exit_2(rocm3d, tmp_path):
    place = tmp_path / "machine.json"
    place.write_bytes(b"\x00\x1b[2J{")

    ended = rocm3d("doctor", "--from", place)

    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 2)
    assert "is not JSON" in ended.err
    assert "\x1b" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--save", "x.json"), "--from and --save cannot be combined"),
        (("--plan", "nowhere.json"), "--plan nowhere.json: No such file"),
    ],
)
def test_wrong_usage(rocm3d, saved, arguments, said):
    ended = rocm3d("doctor", "--from", saved(MACHINES.pair), *arguments)

    assert ended.code == 2
    assert said in ended.err


def test_machine_without_an_amd_gpu_says_so_and_exits_4(rocm3d, saved):
    ended = rocm3d("doctor", "--from", saved(lambda root: MACHINES.system(root, "6.8.0", "Debian", "", 1 << 34, "0-3")))

    assert (ended.code, ended.err) == (4, "no AMD GPU on this machine\n")


def test_notes_alone_are_no_problem(rocm3d, saved):
    ended = rocm3d("doctor", "--from", saved(MACHINES.mi300x))

    assert ended.code == 0
    assert ended.err.startswith("0 errors, 0 warnings, 3 notes; ")
    assert "note numa-balancing-on" in ended.out


def test_problems_exit_1_with_all_that_a_person_needs(rocm3d, saved):
    ended = rocm3d("doctor", "--from", saved(MACHINES.pair))

    lines = ended.out.splitlines()
    start = lines.index("warning iommu-not-passed-through: The IOMMU translates addresses, and there are several GPUs")
    assert ended.code == 1
    parts = [line.split(":")[0].strip() for line in lines[start + 1 : start + 9]]
    assert parts == [*["read"] * 3, "why", *["do"] * 3, "needs root and a reboot; check"]


def test_control_characters_of_a_stranger_are_not_obeyed(rocm3d, saved):
    place = saved(MACHINES.pair, system="evil\x1b[2J\u202e", variables={"HIP_PLATFORM": "nvidia\x07"})

    ended = rocm3d("doctor", "--from", place)

    assert "\x1b" not in ended.out + ended.err
    assert "\u202e" not in ended.out
    assert "\x07" not in ended.out


def test_markdown(rocm3d, saved):
    ended = rocm3d("doctor", "--from", saved(MACHINES.pair), "--format", "markdown")

    assert ended.code == 1
    assert "## warning: A card has few PCIe lanes (`narrow-link`)" in ended.out


def test_a_plan_is_named_and_judged(rocm3d, saved, example):
    repository = example("splat-trainer")
    assert rocm3d("plan", repository, "--gpu", "mi300x").code in (0, 1)

    ended = rocm3d("doctor", "--from", saved(MACHINES.pair), "--plan", repository, "--format", "json")

    found = {item["id"]: item for item in json.loads(ended.out)["problems"]}
    assert "gfx942" in json.loads(ended.out)["plan"]
    assert found["plan-for-another-gpu"]["read"] == ["the plan is for gfx942", "here: gfx1036, gfx1100"]


def test_this_machine_is_saved_and_diagnosed_again(rocm3d, tmp_path):
    place = tmp_path / "machine.json"

    first = rocm3d("doctor", "--save", place, cwd=tmp_path)
    again = rocm3d("doctor", "--from", place)

    assert first.code in (0, 1, 4)
    assert (again.code, again.out) == (first.code, first.out)
