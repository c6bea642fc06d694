from __future__ import annotations

import pytest

from rocm3d.apply.target_needs import base_pins, base_requirements


@pytest.fixture
def plan_with_base(make_plan, knowledge):
    """A plan on a base like one of the knowledge base, changed a little."""

    def make(**more):
        stack = next(entry for entry in knowledge.stacks.values() if entry.form == "container")
        arguments = {**stack.model_dump(), "torch": "2.6.0", "provides": {}, "requirements": (), **more}
        return make_plan(base=arguments)

    return make


def test_without_a_base_nothing_is_pinned(make_plan):
    assert (base_pins(make_plan()), base_requirements(make_plan())) == ({}, ())


def test_container_base_is_not_installed(plan_with_base):
    assert base_requirements(plan_with_base(requirements=("torch",))) == ()


def test_torch_is_pinned_to_the_release_of_its_record(plan_with_base):
    assert base_pins(plan_with_base()) == {"torch": "==2.6.0"}


def test_provided_packages_are_pinned_by_their_own_name(plan_with_base):
    result = base_pins(
        plan_with_base(provides={"torch": "2.6.0", "torchvision": "0.21.0", "pytorch_triton_rocm": "3.2.0"})
    )
    assert result == {"torch": "==2.6.0", "torchvision": "==0.21.0", "pytorch-triton-rocm": "==3.2.0"}


def test_the_local_version_of_a_wheel_is_part_of_the_pin(plan_with_base):
    plan = plan_with_base(
        form="pip", requirements=("torch[device-{gfx}]==2.6.0+rocm6.4", "torchvision", "rocm[devel]==1", "((")
    )
    assert base_requirements(plan)[0] == "torch[device-gfx942]==2.6.0+rocm6.4"
    assert base_pins(plan) == {"torch": "==2.6.0+rocm6.4"}


def test_every_base_of_wheels_in_the_knowledge_base_pins_its_build(knowledge, make_plan):
    for stack in knowledge.stacks.values():
        pin = base_pins(make_plan(base=stack))["torch"]
        assert pin.startswith(f"=={stack.torch}")
        assert ("+rocm" in pin) == (stack.form == "pip")
