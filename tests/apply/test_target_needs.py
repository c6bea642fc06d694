from __future__ import annotations

from rocm3d.apply.target_needs import EnvironmentVariable, decisions_for_target, environment_variables


def test_target_is_always_set_and_never_overridden(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", env={"PYTORCH_ROCM_ARCH": "gfx90a"}),))
    assert environment_variables(plan) == (
        EnvironmentVariable("PYTORCH_ROCM_ARCH", "gfx942", "extensions are built for Instinct MI300X"),
    )


def test_routes_that_agree_share_a_variable(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("b", env={"A": "1"}), make_decision("a", env={"A": "1"})))
    assert EnvironmentVariable("A", "1", "required by a (r), b (r)") in environment_variables(plan)


def test_routes_that_disagree_leave_it_to_each_build(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", env={"A": "1"}), make_decision("b", env={"A": "2"})))
    (result,) = [entry for entry in environment_variables(plan) if entry.name == "A"]
    assert result.value is None
    assert result.reason.endswith("a (r) 1; b (r) 2")


def test_the_placeholder_of_the_target_is_filled_in_everywhere(make_plan, make_decision):
    entry = make_decision("a", env={"A": "{gfx};x"}, commands=(("make", "T={gfx}"),), requirement="a[{gfx}]")
    (result,) = decisions_for_target(make_plan(decisions=(entry,)))
    assert (result.env, result.commands, result.requirement) == (
        {"A": "gfx942;x"},
        (("make", "T=gfx942"),),
        "a[gfx942]",
    )
