"""`rocm3d review` on whole ports: what an answer changes, what it does not, and what later applies respect."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rocm3d.apply import edits as edits_module
from rocm3d.model.errors import UserError
from rocm3d.model.patch import DECLINED, Patch
from rocm3d.pipeline import ApplyOptions, EditSelection, Repository, open_review

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "splat-trainer"
KERNEL = "csrc/forward.cu"


@pytest.fixture(scope="module")
def origin(tmp_path_factory, knowledge):
    """The example, ported once without git."""
    root = tmp_path_factory.mktemp("ported") / "tree"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns(".rocm3d"))
    repository = Repository(root, knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    return root


@pytest.fixture
def ported(origin, knowledge, tmp_path):
    """A new copy of the port for every call."""
    count = iter(range(1000))

    def make() -> Repository:
        root = tmp_path / str(next(count)) / "tree"
        shutil.copytree(origin, root)
        return Repository(root, knowledge)

    return make


def unit_of(review, recipe: str):
    return next(unit for unit in review.open_units() if recipe in unit.recipes)


def leave_out(repository, *recipes: str):
    review = open_review(repository)
    for recipe in recipes:
        review.leave_out(unit_of(review, recipe))
    return review


def recipes_of(repository) -> dict[str, tuple[str, ...]]:
    return {change.path: change.recipes for change in repository.documents.read(Patch).edited}


# What is refused.


def test_a_tree_that_was_not_ported_is_refused(example, knowledge):
    with pytest.raises(UserError, match="has no port that can be reviewed") as failure:
        open_review(Repository(example("deform-op"), knowledge))
    assert "rocm3d port PATH" in failure.value.hint


def test_a_port_that_was_undone_is_refused(ported):
    repository = ported()
    repository.undo(keep_changed=False)

    with pytest.raises(UserError, match="has no port that can be reviewed"):
        open_review(repository)


def test_answers_of_somebody_else_count_neither_in_a_review_nor_in_apply(ported, knowledge):
    repository = ported()
    leave_out(repository, "lane-mask-by-backend")
    answers = (repository.documents.folder / "review.json").read_text()
    other = ported()
    (other.documents.folder / "review.json").write_text(answers.replace("tree", "treE"))

    assert len(open_review(other).open_units()) == 5
    assert other.documents.ignored == [other.documents.folder / "review.json"]
    other.apply(other.plan(knowledge.gpu("gfx942")))
    assert "lane-mask-by-backend" in recipes_of(other)[KERNEL]


def test_a_changed_file_is_not_rewritten(ported, snapshot):
    repository = ported()
    review = open_review(repository)
    unit = unit_of(review, "lane-mask-by-backend")
    with (repository.root / KERNEL).open("a") as stream:
        stream.write("// mine\n")
    before = snapshot(repository.root)

    with pytest.raises(UserError, match="was changed since this edit was shown"):
        review.leave_out(unit)
    with pytest.raises(UserError, match=f"changed since the last apply: {KERNEL}"):
        leave_out(repository, "lane-mask-by-backend")
    assert snapshot(repository.root) == before
    assert not (repository.documents.folder / "review.json").exists()


def test_nothing_changes_if_the_rest_is_not_proven_without_the_edit(ported, snapshot, monkeypatch):
    repository = ported()
    review = open_review(repository)
    unit = unit_of(review, "lane-mask-by-backend")
    before, real = snapshot(repository.root), edits_module.prove_isolation

    def fails_for_the_whole_file(path, original, data, facts):
        proof = real(path, original, data, facts)
        if path == KERNEL and b"__shfl_down(" not in data and b"project_kernel <<<" in data:
            return proof.model_copy(update={"holds": False, "detail": "made up"})
        return proof

    monkeypatch.setattr(edits_module, "prove_isolation", fails_for_the_whole_file)
    with pytest.raises(UserError, match="nothing was changed"):
        review.leave_out(unit)
    assert snapshot(repository.root) == before
    assert not (repository.documents.folder / "review.json").exists()


# What an answer does.


def test_an_edit_that_is_left_out_is_gone_and_all_documents_follow(ported, snapshot):
    repository = ported()
    before = snapshot(repository.root)
    leave_out(repository, "lane-mask-by-backend")
    after = snapshot(repository.root)

    changed = {path for path in before if before[path] != after[path]}
    assert changed == {KERNEL, "rocm-port/port.json"}
    assert before.keys() == after.keys()
    text = after[KERNEL][1]
    assert b"__shfl_down(v" not in text
    assert b"project_kernel <<<" in text
    patch = repository.documents.read(Patch)
    (refused,) = patch.left_out
    assert (refused.path, refused.recipe, refused.reason) == (KERNEL, "lane-mask-by-backend", DECLINED)
    assert all(change.proof.holds for change in patch.edited)
    assert patch.tasks == ()
    manifest = json.loads(after["rocm-port/port.json"][1])
    assert manifest["edited"][KERNEL]["recipes"] == list(recipes_of(repository)[KERNEL])
    assert "lane-mask-by-backend" not in manifest["edited"][KERNEL]["recipes"]
    commit = repository.documents.read_bytes("port.patch")
    assert b"__shfl_down(v" not in commit
    assert b"lane-mask-by-backend" not in commit


def test_undo_after_a_review_restores_every_byte(ported, snapshot):
    repository = ported()
    leave_out(repository, "lane-mask-by-backend", "flash-attention-optional")
    repository.undo(keep_changed=False)

    files = (path for path in EXAMPLE.rglob("*") if path.is_file() and ".rocm3d" not in path.parts)
    assert {path: data for path, (_, data) in snapshot(repository.root).items()} == {
        str(path.relative_to(EXAMPLE)): path.read_bytes() for path in files
    }


def test_a_file_without_any_edit_left_is_the_original_and_not_in_the_patch(ported):
    repository = ported()
    leave_out(repository, "flash-attention-optional", "xformers-import-by-backend")

    path = "splat_trainer/attention.py"
    assert (repository.root / path).read_bytes() == (EXAMPLE / path).read_bytes()
    assert path not in recipes_of(repository)
    assert path not in json.loads((repository.root / "rocm-port/port.json").read_text())["edited"]


def test_a_review_resumes_where_it_ended(ported, knowledge):
    repository = ported()
    review = open_review(repository)
    first, second, *rest = review.open_units()
    review.keep(first)
    review.leave_out(second)

    again = open_review(Repository(repository.root, knowledge)).open_units()

    assert [unit.recipes for unit in again] == [unit.recipes for unit in rest]


def test_all_answers_can_be_given_again(ported, snapshot, knowledge):
    repository = ported()
    before = snapshot(repository.root)
    leave_out(repository, "lane-mask-by-backend", "xformers-import-by-backend")
    review = open_review(Repository(repository.root, knowledge), again=True)

    shown = [(unit.recipes, unit.is_made) for unit in review.open_units()]
    assert shown == [
        (("ballot-64-bit",), True),
        (("launch-chevrons-joined",), True),
        (("flash-attention-optional",), True),
        (("lane-mask-by-backend",), False),
        (("xformers-import-by-backend",), False),
    ]
    for _ in shown:
        review.keep(review.open_units()[0])
    assert review.open_units() == []
    assert snapshot(repository.root) == before
    assert open_review(repository).open_units() == []


def test_later_applies_leave_a_declined_edit_out_and_say_so(ported, snapshot, knowledge):
    repository = ported()
    leave_out(repository, "lane-mask-by-backend")
    reviewed = snapshot(repository.root)

    def reasons():
        return [item.reason for item in repository.documents.read(Patch).left_out]

    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    assert (snapshot(repository.root), reasons()) == (reviewed, [DECLINED])
    repository.undo(keep_changed=False)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    assert (snapshot(repository.root), reasons()) == (reviewed, [DECLINED])


def test_an_edit_that_an_option_left_out_stays_out(ported, knowledge):
    repository = ported()
    repository.undo(keep_changed=False)
    plan = repository.plan(knowledge.gpu("gfx942"))
    repository.apply(plan, ApplyOptions(selection=EditSelection(skip=("launch-chevrons-joined",))))
    leave_out(repository, "lane-mask-by-backend")

    reasons = {item.recipe: item.reason for item in repository.documents.read(Patch).left_out}
    assert reasons == {
        "lane-mask-by-backend": DECLINED,
        "launch-chevrons-joined": "excluded by --skip launch-chevrons-joined",
    }


def test_edits_of_a_submodule_are_taken_out_of_its_patch(knowledge, with_submodule, snapshot):
    files = {"csrc/forward.cu": (EXAMPLE / KERNEL).read_bytes(), "setup.py": (EXAMPLE / "setup.py").read_bytes()}
    root, commit = with_submodule(files)
    repository = Repository(root, knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    file = root / "rocm-port" / "patches" / f"knn@{commit}.patch"
    before, checkout = file.read_bytes(), snapshot(root / "libs")

    leave_out(repository, "lane-mask-by-backend")

    assert b"__shfl_down(v" in before
    assert b"__shfl_down(v" not in file.read_bytes()
    assert b"project_kernel <<<" in file.read_bytes()
    assert snapshot(root / "libs") == checkout


def test_the_patch_of_a_submodule_goes_with_its_last_edit(knowledge, with_submodule):
    text = b"__global__ void k(float v) { v += __shfl_down_sync(0xffffffff, v, 16); }\n"
    root, commit = with_submodule({"k.cu": text})
    repository = Repository(root, knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    file = root / "rocm-port" / "patches" / f"knn@{commit}.patch"
    assert file.is_file()

    leave_out(repository, "lane-mask-by-backend")

    assert not file.exists()
    assert repository.documents.read(Patch).modules == ()
    repository.undo(keep_changed=False)
    assert not (root / "rocm-port").exists()


def test_the_report_is_written_again(ported, knowledge):
    repository = ported()
    repository.verify(("static",), ())
    repository.evidence()
    review = leave_out(repository, "lane-mask-by-backend")
    assert repository.report().moved
    review.finish()

    assert not repository.report().moved
    page = (repository.documents.folder / "report.html").read_text()
    assert "Edits that were left out" in page


def test_the_order_of_the_answers_does_not_matter(ported, snapshot):
    recipes = ["ballot-64-bit", "lane-mask-by-backend", "launch-chevrons-joined", "flash-attention-optional"]
    leave_out(first := ported(), *recipes)
    leave_out(second := ported(), *reversed(recipes))

    assert snapshot(first.root) == snapshot(second.root)
    assert first.documents.read(Patch) == second.documents.read(Patch)


def test_declined_before_the_port_is_the_same_as_after(ported, snapshot, knowledge):
    leave_out(first := ported(), "ballot-64-bit", "xformers-import-by-backend")
    leave_out(second := ported(), "ballot-64-bit", "xformers-import-by-backend")
    second.undo(keep_changed=False)
    second.apply(second.plan(knowledge.gpu("gfx942")))

    assert snapshot(first.root) == snapshot(second.root)
    assert first.documents.read(Patch) == second.documents.read(Patch)
