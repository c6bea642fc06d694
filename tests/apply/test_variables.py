from __future__ import annotations

from rocm3d.apply.variables import Variable, settled, variables


def test_the_target_is_always_there_and_nobody_changes_it(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", env={"PYTORCH_ROCM_ARCH": "gfx90a"}),))
    assert variables(plan) == (Variable("PYTORCH_ROCM_ARCH", "gfx942", "extensions are built for Instinct MI300X"),)


def test_routes_that_agree_share_a_variable(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("b", env={"A": "1"}), make_decision("a", env={"A": "1"})))
    assert Variable("A", "1", "required by a (r), b (r)") in variables(plan)


def test_routes_that_disagree_leave_it_to_each_build(make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", env={"A": "1"}), make_decision("b", env={"A": "2"})))
    (found,) = [item for item in variables(plan) if item.name == "A"]
    assert found.value is None
    assert found.why.endswith("a (r) 1; b (r) 2")


def test_the_placeholder_of_the_target_is_filled_in_everywhere(make_plan, make_decision):
    item = make_decision("a", env={"A": "{gfx};x"}, commands=(("make", "T={gfx}"),), requirement="a[{gfx}]")
    (found,) = settled(make_plan(decisions=(item,)))
    assert (found.env, found.commands, found.requirement) == ({"A": "gfx942;x"}, (("make", "T=gfx942"),), "a[gfx942]")
