from __future__ import annotations

from packaging.requirements import Requirement

from rocm3d.apply.additions.constraints import render
from rocm3d.workspace.tree import Tree


def rendered(tmp_path, plan) -> bytes:
    return render(plan, Tree.open(tmp_path), "rocm-port")["constraints.txt"]


def active(data: bytes) -> list[str]:
    return [line for line in data.decode().splitlines() if line and not line.startswith("#")]


def test_no_pins_without_a_base(tmp_path, make_plan):
    assert active(rendered(tmp_path, make_plan())) == []


def test_a_binary_file_of_that_name_is_left_out(tmp_path, make_plan):
    (tmp_path / "constraints.txt").write_bytes(b"a\0b")
    assert active(rendered(tmp_path, make_plan())) == []


def test_pins_of_the_base_and_of_routes(tmp_path, make_plan, make_stack, make_decision):
    decisions = (make_decision("x", needs={"numpy": "<2", "any": ""}), make_decision("y", needs={"numpy": ">=1.24"}))
    plan = make_plan(base=make_stack(provides={"torchvision": "0.21.0"}), decisions=decisions)
    lines = active(rendered(tmp_path, plan))
    assert lines == ["torch==2.6.0", "torchvision==0.21.0", "numpy<2  # x (r)", "numpy>=1.24  # y (r)"]
    assert all(Requirement(line.partition("  #")[0]) for line in lines)


def test_repository_constraints_come_first_without_decided_packages(tmp_path, make_plan, make_stack, make_decision):
    (tmp_path / "constraints.txt").write_bytes(b"torch==2.1+cu118\r\nnumpy<2")
    data = rendered(tmp_path, make_plan(base=make_stack(), decisions=(make_decision("torch"),)))
    assert data.startswith(b"# rocm3d: torch: drop: why\r\nnumpy<2\r\n# rocm3d: ")
    assert active(data) == ["numpy<2", "torch==2.6.0"]
    assert data.count(b"\n") == data.count(b"\r\n")


def test_same_plan_same_bytes(tmp_path, make_plan, make_decision):
    first, two = make_decision("a", needs={"x": "<2"}), make_decision("b", needs={"x": "<2", "w": ">1"})
    assert rendered(tmp_path, make_plan(decisions=(first, two))) == rendered(
        tmp_path, make_plan(decisions=(two, first))
    )
