from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.apply import edits as edits_module
from rocm3d.apply.edits import Edits
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.review_units import ReviewUnits
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.stage import apply
from rocm3d.model.patch import DECLINED
from rocm3d.workspace.tree import Tree

ORIGINAL = b"#include <a.h>\n#include <b.h>\n#include <c.h>\nint x;\n"


@pytest.fixture
def port(tmp_path, make_plan, make_edit):
    """A ported file: its patch, its plan and its units. Each edit is (recipe, safety)."""

    def make(*recipes: tuple[str, str], left_out=()):
        path = tmp_path / "x.cu"
        path.write_bytes(ORIGINAL)
        edits = (
            make_edit("guard_include", "x.cu", recipe=name, safety=safety, headers=[f"{name[-1]}.h"])
            for name, safety in recipes
        )
        plan = make_plan(*edits)
        request = ApplyRequest("rocm-port", left_out={("x.cu", name): DECLINED for name in left_out})
        outcome = apply(plan, Tree.open(tmp_path), request)
        path.write_bytes(outcome.contents.get("x.cu", ORIGINAL))
        current = Edits(Tree.open(tmp_path), replace(request, originals={"x.cu": ORIGINAL}), outcome.patch)
        return ReviewUnits(plan, outcome.patch, current)

    return make


@pytest.fixture
def dependent(monkeypatch):
    """Makes one recipe refuse where another did not edit before, as the use of an alias does."""

    def make(name: str, needed: bytes) -> None:
        real = edits_module.load_rewrite("guard_include")

        def rewrite(data, parameters):
            if parameters["headers"] == [f"{name[-1]}.h"] and b"#endif\n" not in data.split(needed)[1][:8]:
                raise RewriteRefusedError("no alias")
            return real(data, parameters)

        monkeypatch.setattr(edits_module, "load_rewrite", lambda _: rewrite)

    return make


def recipes(units) -> list[tuple[str, ...]]:
    return [unit.recipes for unit in units.present()]


def test_safe_edits_are_no_units(port):
    assert recipes(port(("edit-a", "safe"))) == []


def test_each_recipe_of_a_file_is_a_unit_with_its_diff_and_proof(port):
    first, second = port(("edit-a", "review"), ("edit-b", "safe"), ("edit-c", "review")).present()

    assert (first.recipes, second.recipes) == (("edit-a",), ("edit-c",))
    assert first.proof.holds
    assert first.is_made
    assert [note.recipe for note in first.notes] == ["edit-a"]
    changed = [line for line in first.diff.splitlines()[4:] if line[0] in "+-"]
    assert changed == ["+#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)", "+#endif"]
    assert first.key != second.key


def test_the_digest_of_a_unit_does_not_depend_on_its_position(port):
    (alone,) = port(("edit-c", "review")).present()
    _, after_another = port(("edit-a", "review"), ("edit-c", "review")).present()

    assert alone.diff != after_another.diff
    assert alone.shown == after_another.shown


def test_an_edit_that_is_lost_without_another_belongs_to_it(port, dependent):
    dependent("edit-b", needed=b"#include <a.h>\n")

    assert recipes(port(("edit-a", "review"), ("edit-b", "review"), ("edit-c", "review"))) == [
        ("edit-a", "edit-b"),
        ("edit-c",),
    ]


def test_a_safe_edit_that_needs_one_to_read_is_left_out_with_it(port, dependent):
    dependent("edit-b", needed=b"#include <a.h>\n")

    assert recipes(port(("edit-a", "review"), ("edit-b", "safe"))) == [("edit-a", "edit-b")]


def test_an_edit_to_read_does_not_take_out_the_safe_one_that_it_needs(port, dependent):
    dependent("edit-b", needed=b"#include <a.h>\n")

    assert recipes(port(("edit-a", "safe"), ("edit-b", "review"))) == [("edit-b",)]


def test_edits_that_were_left_out_can_be_shown(port):
    units = port(("edit-a", "review"), ("edit-b", "review"), left_out=["edit-b"])
    unit = units.absent("x.cu", ["edit-b"])

    assert recipes(units) == [("edit-a",)]
    assert (unit.recipes, unit.is_made) == (("edit-b",), False)
    assert unit.diff.count("\n+#if") == 1
    assert units.absent("x.cu", ["edit-z"]) is None
