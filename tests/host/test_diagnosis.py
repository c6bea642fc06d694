"""Severity of conditions for a plan, and conditions that could not be checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.host.diagnosis import diagnose


@pytest.fixture
def problems_of(sound, change, knowledge):
    def run(base: str, changes: dict, planned=None):
        diagnosis = diagnose(change(sound[base], changes), knowledge, planned)
        return {problem.id: problem for problem in diagnosis.problems}

    return run


def test_without_an_interpreter_its_conditions_are_not_known_to_be_fine(sound, change, knowledge):
    blind = change(sound["linux"], {"python": None, "no_python": "no Python with torch found"})

    diagnosis = diagnose(blind, knowledge)

    reasons = {condition.id: condition.reason for condition in diagnosis.unread}
    assert reasons["torch-for-cuda"] == "no Python with torch found: pass one with --python"
    assert "torch-for-cuda" not in diagnosis.fine


def test_a_range_of_releases_without_any_release_is_not_known(sound, change, knowledge):
    diagnosis = diagnose(change(sound["wsl"], {"python": None, "rocm": []}), knowledge)

    assert (
        "no ROCm was found"
        in {condition.id: condition.reason for condition in diagnosis.unread}["wsl-torch-own-runtime"]
    )


def test_every_record_is_in_one_of_four_lists(sound, knowledge, plan):
    for planned in (None, plan()):
        diagnosis = diagnose(sound["linux"], knowledge, planned)
        ids = [*diagnosis.fine, *diagnosis.elsewhere, *(item.id for item in (*diagnosis.problems, *diagnosis.unread))]

        assert sorted(ids) == sorted(knowledge.host)


def test_plan_that_compiles_raises_the_severity(problems_of, plan):
    changes = {"variables": {"PYTORCH_ROCM_ARCH": "gfx942"}}

    alone, keeping, building = (
        problems_of("linux", changes, planned)["arch-list-lacks-gpu"]
        for planned in (None, plan(decisions=(("gsplat", "replace"),)), plan())
    )

    assert (alone.severity, alone.for_plan) == ("warning", "")
    assert (keeping.severity, keeping.for_plan) == ("warning", "")
    assert (building.severity, building.for_plan) == (
        "error", "The plan compiles extensions; they would have no code for this GPU.",
    )  # fmt: skip


def test_packages_and_families_of_the_plan_decide(problems_of, plan):
    changes = {"processor.shm_bytes": 64 << 20, "caches.3.writable": False}

    plain = problems_of("container", changes, plan(decisions=()))
    heavy = problems_of("container", changes, plan(decisions=(("deepspeed", "keep"), ("flash-attn", "replace"))))

    assert [plain[name].severity for name in ("shm-too-small", "kernel-cache-shut")] == ["warning", "warning"]
    assert [heavy[name].severity for name in ("shm-too-small", "kernel-cache-shut")] == ["error", "error"]


def test_dropped_packages_do_not_matter(problems_of, plan):
    changes = {"processor.shm_bytes": 64 << 20}

    assert problems_of("container", changes, plan(decisions=(("deepspeed", "drop"),)))["shm-too-small"].for_plan == ""


def test_only_the_plans_target_matters(problems_of, plan):
    """A problem of another card in the machine does not matter to the plan."""
    changes = {"gpus.1.gfx": "gfx1101", "variables": {"PYTORCH_HIP_ALLOC_CONF": "expandable_segments:True"}}

    assert "expandable-segments-corrupt" in problems_of("linux", changes)
    assert "expandable-segments-corrupt" in problems_of("linux", changes, plan("rx 7900 xtx"))
    assert "expandable-segments-corrupt" not in problems_of("linux", changes, plan("rx 7800 xt"))


def test_a_plan_for_the_integrated_gpu_does_not_hide_it(problems_of, plan):
    inside = {"pci": "0000:13:00.0", "gfx": "gfx1151", "integrated": True, "rocr_index": 2, "driver": "amdgpu"}

    assert "integrated-gpu-beside" in problems_of("linux", {"gpus.1": inside}, plan("rx 7900 xtx"))
    assert "integrated-gpu-beside" not in problems_of("linux", {"gpus.1": inside}, plan("gfx1151"))


def test_a_mask_that_leaves_the_integrated_gpu_out_is_enough(problems_of):
    inside = {"pci": "0000:13:00.0", "gfx": "gfx1036", "integrated": True, "rocr_index": 2, "driver": "amdgpu"}
    both = {"gpus.1": inside}

    assert "integrated-gpu-beside" not in problems_of("linux", {**both, "variables": {"ROCR_VISIBLE_DEVICES": "0"}})
    assert "integrated-gpu-beside" in problems_of("linux", {**both, "variables": {"ROCR_VISIBLE_DEVICES": "0,2"}})


def test_a_driver_of_its_own_makes_an_old_kernel_new_enough(problems_of):
    assert "kernel-too-old" not in problems_of("apu", {"kernel": "6.8.0-45-generic", "driver": "6.16.6"})


@pytest.mark.parametrize("kernel", ["5.14.0-503.el9.x86_64", "6.14.0-1018-oem"])
def test_version_of_a_kernel_with_backported_drivers_is_not_checked(sound, change, knowledge, kernel):
    diagnosis = diagnose(change(sound["apu"], {"kernel": kernel}), knowledge)

    assert "kernel-too-old" in {condition.id for condition in diagnosis.unread}


def _leaves(value, path=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}{name}.")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}{index}.")
    if path:
        yield path.rstrip(".")


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.just([]) | st.just({})


@given(data=st.data())
def test_no_snapshot_that_is_read_breaks_the_diagnosis(data, sound, change, knowledge, plan):
    base = sound[data.draw(st.sampled_from(sorted(sound)))]
    paths = sorted(set(_leaves(base.model_dump(mode="json"))) - {"schema_version"})
    path = data.draw(st.sampled_from(paths))
    try:
        spoilt = change(base, {path: data.draw(VALUES)})
    except ValidationError:
        return

    diagnosis = diagnose(spoilt, knowledge, data.draw(st.sampled_from([None, plan()])))

    assert bool(diagnosis.lacks) is not spoilt.has_gpu


def test_the_torch_to_install_is_the_plans_else_the_newest_that_serves_the_gpu(problems_of, plan):
    changes = {"python.torch": "2.9.1+cu128", "python.hip": "", "python.cuda": "12.8"}

    planned = problems_of("linux", changes, plan())["torch-for-cuda"].remedy[0]
    alone = problems_of("linux", changes)["torch-for-cuda"].remedy[0]
    nowhere = problems_of("linux", {**changes, "gpus.0.gfx": "gfx803", "gpus.1.gfx": "gfx803"})[
        "torch-for-cuda"
    ].remedy[0]

    assert planned.startswith(
        "/venv/bin/python -m pip install --index-url https://download.pytorch.org/whl/rocm6.4 torch==2.9.1"
    )
    assert "-m pip install --index-url https://" in alone
    assert alone != planned
    assert nowhere == "no known wheels for this machine; find a stack: `rocm3d plan PATH`"


def test_paths_in_commands_are_quoted(problems_of):
    """A remedy is copied into a shell."""
    problems = problems_of("linux", {"python.path": "/x; rm -rf ~ #", "python.hip": "", "python.cuda": "12"})

    assert problems["torch-for-cuda"].check.startswith("'/x; rm -rf ~ #' -c ")


def test_worst_first(problems_of, sound, change, knowledge):
    spoilt = change(
        sound["linux"], {"gpus.1.width": 4, "variables": {"HIP_PLATFORM": "nvidia"}, "python.torch": "2.9.1+rocm6.4"}
    )

    order = [problem.severity for problem in diagnose(spoilt, knowledge).problems]

    assert order == sorted(order, key=("error", "warning", "note").index)
    assert order[0] == "error"
