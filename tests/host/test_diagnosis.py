"""Severity of conditions for a plan, and conditions that could not be checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.host.diagnosis import diagnose


@pytest.fixture
def seen(sound, change, knowledge):
    def run(base: str, changes: dict, planned=None):
        found = diagnose(change(sound[base], changes), knowledge, planned)
        return {item.id: item for item in found.problems}

    return run


def test_without_an_interpreter_its_conditions_are_not_known_to_be_fine(sound, change, knowledge):
    blind = change(sound["linux"], {"python": None, "no_python": "no Python with torch found"})

    found = diagnose(blind, knowledge)

    reasons = {item.id: item.reason for item in found.unread}
    assert reasons["torch-for-cuda"] == "no Python with torch found: pass one with --python"
    assert "torch-for-cuda" not in found.fine


def test_a_range_of_releases_without_any_release_is_not_known(sound, change, knowledge):
    found = diagnose(change(sound["wsl"], {"python": None, "rocm": []}), knowledge)

    assert "no ROCm was found" in {item.id: item.reason for item in found.unread}["wsl-torch-own-runtime"]


def test_every_record_ends_in_one_of_four_places(sound, knowledge, plan):
    for planned in (None, plan()):
        found = diagnose(sound["linux"], knowledge, planned)
        places = [*found.fine, *found.elsewhere, *(item.id for item in (*found.problems, *found.unread))]

        assert sorted(places) == sorted(knowledge.host)


def test_a_plan_that_compiles_makes_it_worse(seen, plan):
    changes = {"variables": {"PYTORCH_ROCM_ARCH": "gfx942"}}

    alone, keeping, building = (
        seen("linux", changes, planned)["arch-list-lacks-gpu"]
        for planned in (None, plan(decisions=(("gsplat", "replace"),)), plan())
    )

    assert (alone.severity, alone.for_plan) == ("warning", "")
    assert (keeping.severity, keeping.for_plan) == ("warning", "")
    assert (building.severity, building.for_plan) == (
        "error", "The plan compiles extensions; they would have no code for this GPU.",
    )  # fmt: skip


def test_packages_and_families_of_the_plan_decide(seen, plan):
    changes = {"processor.shm_bytes": 64 << 20, "caches.3.writable": False}

    plain = seen("container", changes, plan(decisions=()))
    heavy = seen("container", changes, plan(decisions=(("deepspeed", "keep"), ("flash-attn", "replace"))))

    assert [plain[name].severity for name in ("shm-too-small", "kernel-cache-shut")] == ["warning", "warning"]
    assert [heavy[name].severity for name in ("shm-too-small", "kernel-cache-shut")] == ["error", "error"]


def test_what_the_plan_drops_does_not_count(seen, plan):
    changes = {"processor.shm_bytes": 64 << 20}

    assert seen("container", changes, plan(decisions=(("deepspeed", "drop"),)))["shm-too-small"].for_plan == ""


def test_only_the_plans_target_matters(seen, plan):
    """A problem of another card in the machine does not matter to the plan."""
    changes = {"gpus.1.gfx": "gfx1101", "variables": {"PYTORCH_HIP_ALLOC_CONF": "expandable_segments:True"}}

    assert "expandable-segments-corrupt" in seen("linux", changes)
    assert "expandable-segments-corrupt" in seen("linux", changes, plan("rx 7900 xtx"))
    assert "expandable-segments-corrupt" not in seen("linux", changes, plan("rx 7800 xt"))


def test_a_plan_for_the_integrated_gpu_does_not_hide_it(seen, plan):
    inside = {"pci": "0000:13:00.0", "gfx": "gfx1151", "integrated": True, "rocr_index": 2, "driver": "amdgpu"}

    assert "integrated-gpu-beside" in seen("linux", {"gpus.1": inside}, plan("rx 7900 xtx"))
    assert "integrated-gpu-beside" not in seen("linux", {"gpus.1": inside}, plan("gfx1151"))


def test_a_mask_that_leaves_the_integrated_gpu_out_is_enough(seen):
    inside = {"pci": "0000:13:00.0", "gfx": "gfx1036", "integrated": True, "rocr_index": 2, "driver": "amdgpu"}
    both = {"gpus.1": inside}

    assert "integrated-gpu-beside" not in seen("linux", {**both, "variables": {"ROCR_VISIBLE_DEVICES": "0"}})
    assert "integrated-gpu-beside" in seen("linux", {**both, "variables": {"ROCR_VISIBLE_DEVICES": "0,2"}})


def test_a_driver_of_its_own_makes_an_old_kernel_new_enough(seen):
    assert "kernel-too-old" not in seen("apu", {"kernel": "6.8.0-45-generic", "driver": "6.16.6"})


@pytest.mark.parametrize("kernel", ["5.14.0-503.el9.x86_64", "6.14.0-1018-oem"])
def test_a_kernel_with_drivers_of_later_ones_is_not_judged_by_its_number(sound, change, knowledge, kernel):
    found = diagnose(change(sound["apu"], {"kernel": kernel}), knowledge)

    assert "kernel-too-old" in {item.id for item in found.unread}


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

    found = diagnose(spoilt, knowledge, data.draw(st.sampled_from([None, plan()])))

    assert bool(found.lacks) is not spoilt.has_gpu


def test_the_torch_to_install_is_the_plans_else_the_newest_that_serves_the_gpu(seen, plan):
    changes = {"python.torch": "2.9.1+cu128", "python.hip": "", "python.cuda": "12.8"}

    planned = seen("linux", changes, plan())["torch-for-cuda"].remedy[0]
    alone = seen("linux", changes)["torch-for-cuda"].remedy[0]
    nowhere = seen("linux", {**changes, "gpus.0.gfx": "gfx803", "gpus.1.gfx": "gfx803"})["torch-for-cuda"].remedy[0]

    assert planned.startswith(
        "/venv/bin/python -m pip install --index-url https://download.pytorch.org/whl/rocm6.4 torch==2.9.1"
    )
    assert "-m pip install --index-url https://" in alone
    assert alone != planned
    assert nowhere == "no known wheels for this machine; find a stack: `rocm3d plan PATH`"


def test_what_a_stranger_wrote_is_one_word_of_a_command(seen):
    """A remedy is copied into a shell."""
    found = seen("linux", {"python.path": "/x; rm -rf ~ #", "python.hip": "", "python.cuda": "12"})

    assert found["torch-for-cuda"].check.startswith("'/x; rm -rf ~ #' -c ")


def test_worst_first(seen, sound, change, knowledge):
    spoilt = change(
        sound["linux"], {"gpus.1.width": 4, "variables": {"HIP_PLATFORM": "nvidia"}, "python.torch": "2.9.1+rocm6.4"}
    )

    order = [item.severity for item in diagnose(spoilt, knowledge).problems]

    assert order == sorted(order, key=("error", "warning", "note").index)
    assert order[0] == "error"
