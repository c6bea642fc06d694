from __future__ import annotations

import json

import pytest


def commit_checkout(git, root):
    """Commit all files of a folder to a new repository."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")


@pytest.mark.parametrize("command", ["apply", "port"])
@pytest.mark.parametrize("option", ["--only", "--skip"])
def test_unknown_selection_is_refused_before_any_edit(rocm3d, example, snapshot, command, option):
    root = example("deform-op")
    before = snapshot(root)

    ended = rocm3d(command, root, "--gpu", "mi300x", option, "CU,spaced_lunch")

    assert ended.code == 2
    assert "'spaced_lunch' is not a rule, a code prefix or a recipe" in ended.err
    assert "did you mean spaced_launch" in ended.err
    assert before == snapshot(root)


def test_dirty_tree_is_refused_with_both_options(rocm3d, example, snapshot, git):
    root = example("deform-op")
    git(root, "init", "-q")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 2
    assert "--into" in ended.err
    assert "--allow-dirty" in ended.err
    assert before == snapshot(root)


def test_foreign_port_folder_is_refused_with_the_option(rocm3d, example):
    root = example("deform-op")
    (root / "rocm-port").mkdir()
    (root / "rocm-port" / "precious.txt").write_text("mine")

    refused = rocm3d("apply", root, "--gpu", "mi300x")
    elsewhere = rocm3d("apply", root, "--gpu", "mi300x", "--folder", "rocm-port-2")

    assert refused.code == 2
    assert "--folder" in refused.err
    assert elsewhere.code == 0, elsewhere.err
    assert (root / "rocm-port-2" / "port.json").is_file()
    assert [path.name for path in (root / "rocm-port").iterdir()] == ["precious.txt"]


def test_into_an_existing_folder_is_refused(rocm3d, example, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")

    ended = rocm3d("apply", example("deform-op"), "--gpu", "mi300x", "--into", tmp_path / "full")

    assert ended.code == 2
    assert "not empty" in ended.err


def test_dry_run_prints_a_git_patch_and_writes_nothing(rocm3d, example, snapshot, tmp_path, git):
    root = example("splat-trainer")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--output", tmp_path / "port.patch")

    assert ended.code == 0
    assert before == snapshot(root)
    git(root, "init", "-q")
    git(root, "apply", "--check", tmp_path / "port.patch")


def test_a_clean_git_tree_is_edited_in_place_and_the_patch_equals_the_dry_run(rocm3d, example, tmp_path, git):
    root = example("splat-trainer")
    commit_checkout(git, root)
    rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--output", tmp_path / "port.patch")
    git(root, "clone", "-q", root, tmp_path / "other")
    git(tmp_path / "other", "apply", tmp_path / "port.patch")

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    changed = git(root, "status", "--porcelain").split()
    edited = {"setup.py", "csrc/forward.cu", "splat_trainer/attention.py", "rocm-port/"}
    assert edited == {name for name in changed if len(name) > 2}
    for name in ("setup.py", "csrc/forward.cu", "rocm-port/requirements.txt", "rocm-port/environment.sh"):
        assert (tmp_path / "other" / name).read_bytes() == (root / name).read_bytes(), name


def test_into_a_copy_does_not_change_the_original(rocm3d, example, snapshot, tmp_path):
    root = example("splat-trainer")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--into", tmp_path / "copy")

    assert ended.code == 0, ended.err
    assert before == snapshot(root)
    assert (tmp_path / "copy" / "rocm-port" / "port.json").is_file()


def test_a_second_apply_changes_nothing_even_in_git(rocm3d, example, snapshot, git):
    root = example("splat-trainer")
    commit_checkout(git, root)
    rocm3d("apply", root, "--gpu", "mi300x")
    once = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    assert once == snapshot(root)


def test_second_apply_preserves_commits_made_after_the_port(rocm3d, example, git):
    root = example("splat-trainer")
    commit_checkout(git, root)
    rocm3d("apply", root, "--gpu", "mi300x")
    kernel = root / "csrc" / "forward.cu"
    kernel.write_text(kernel.read_text() + "// by hand\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "port and more")

    ended = rocm3d("port", root, "--gpu", "mi300x", "--until", "planned")

    assert ended.code == 0, ended.err
    assert kernel.read_text().endswith("// by hand\n")


def test_the_requirements_of_the_port_name_no_cuda(rocm3d, example):
    root = example("splat-trainer")

    rocm3d("apply", root, "--gpu", "mi300x")

    lines = (root / "rocm-port" / "requirements.txt").read_text().splitlines()
    active = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert not [line for line in active if "+cu" in line or "/cu1" in line or "-cu1" in line]
    original = (root / "requirements.txt").read_text().splitlines()
    for name in ("numpy", "tqdm", "plyfile", "torchmetrics"):
        assert [line for line in original if line.startswith(name)] == [
            line for line in active if line.startswith(name)
        ]


def test_only_and_skip_choose_edits_and_others_are_listed(rocm3d, example):
    root = example("splat-trainer")

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--only", "BLD,PY", "--skip", "nvcc-flags-by-backend")

    patch = json.loads((root / ".rocm3d" / "patch.json").read_text())
    recipes = {recipe for change in patch["changes"] for recipe in change["recipes"]}
    reasons = {item["reason"] for item in patch["refused"]}
    assert ended.code == 0, ended.err
    assert "csrc/forward.cu" not in {change["path"] for change in patch["changes"]}
    assert "nvcc-flags-by-backend" not in recipes
    assert {"excluded by --only BLD,PY", "excluded by --skip nvcc-flags-by-backend"} <= reasons
    assert "not made: 1 edit, excluded by --skip nvcc-flags-by-backend (setup.py)" in ended.out
    assert (root / "rocm-port" / "install.sh").is_file()


def test_the_option_review_is_accepted_hidden_and_without_effect(rocm3d, example, snapshot):
    root = example("splat-trainer")
    rocm3d("apply", root, "--gpu", "mi300x", "--review")
    with_option = snapshot(root)
    rocm3d("undo", root)
    rocm3d("apply", root, "--gpu", "mi300x")

    assert with_option == snapshot(root)
    assert "--review" not in rocm3d("apply", "--help").out
    assert "--safe-only" in rocm3d("port", "--help").out


def test_safe_only_leaves_out_what_somebody_should_read(rocm3d, example):
    root = example("splat-trainer")

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--safe-only")

    patch = json.loads((root / ".rocm3d" / "patch.json").read_text())
    assert {item["kind"] for item in patch["refused"]} == {"left_out"}
    assert "not made: 6 edits, left out by --safe-only (csrc/forward.cu, splat_trainer/attention.py)" in ended.out
    assert patch["tasks"] == []
    assert [change["path"] for change in patch["changes"] if change["review"]] == []


def test_all_proven_edits_are_made_and_the_patch_names_those_to_read(rocm3d, example):
    root = example("splat-trainer")

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    plan = json.loads((root / ".rocm3d" / "plan.json").read_text())
    patch = json.loads((root / ".rocm3d" / "patch.json").read_text())
    planned = {(edit["path"], edit["recipe"]) for edit in plan["edits"]}
    edited = {(change["path"], recipe) for change in patch["changes"] for recipe in change["recipes"]}
    not_needed = {(item["path"], item["recipe"]) for item in patch["refused"] if item["kind"] == "not_needed"}
    assert edited | not_needed == planned
    assert len(patch["refused"]) == len(not_needed) == 1
    message = (root / ".rocm3d" / "port.patch").read_text().partition("\n---\n")[0]
    for change in patch["changes"]:
        for note in change["review"]:
            assert note["check"] in message
            assert note["check"] in ended.out
    assert message.count("\n- csrc/forward.cu:") == 4


def test_a_second_apply_adds_to_the_first(rocm3d, example, snapshot, tmp_path):
    root = example("splat-trainer")
    rocm3d("apply", root, "--gpu", "mi300x", "--only", "BLD")
    rocm3d("apply", root, "--gpu", "mi300x", "--skip", "BLD")
    by_two = snapshot(root)
    rocm3d("undo", root)

    rocm3d("apply", root, "--gpu", "mi300x")

    assert by_two == snapshot(root)


def test_diff_is_coloured_only_on_request(rocm3d, example, tmp_path):
    root = example("deform-op")

    plain = rocm3d("apply", root, "--gpu", "mi300x", "--dry-run")
    coloured = rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--color", env={"NO_COLOR": "1"})
    rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--output", tmp_path / "plain.patch")

    assert "\x1b" not in plain.out + (tmp_path / "plain.patch").read_text()
    assert "\x1b[32m+" in coloured.out
    assert plain.out == (tmp_path / "plain.patch").read_text()
    assert "\x1b" not in coloured.err


ODD = {
    "csrc/crlf.cu": b"#include <device_launch_parameters.h>\r\n__global__ void k() {}\r\n",
    "csrc/open.cu": b"#include <device_launch_parameters.h>\n__global__ void k() {}",
    "csrc/latin.cu": b"// caf\xe9 \xff\n#include <device_launch_parameters.h>\n__global__ void k() {}\n",
    "requirements.txt": b"numpy\r\nflash-attn\r\n",
}


def test_the_patch_file_gives_the_applied_tree_by_apply_and_by_am(rocm3d, example, git, snapshot, tmp_path):
    """Includes CRLF, a missing last newline, invalid UTF-8, executable bits and new files."""
    root = example("splat-trainer")
    for name, data in ODD.items():
        (root / name).write_bytes(data)
    (root / "csrc/open.cu").chmod(0o755)
    commit_checkout(git, root)
    for name in ("by-apply", "by-am"):
        git(tmp_path, "clone", "-q", root, name)
    dry = rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--patch", tmp_path / "dry.patch")

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--patch", tmp_path / "real.patch")

    patch = root / ".rocm3d" / "port.patch"
    assert (dry.code, ended.code) == (0, 0), ended.err
    assert patch.read_bytes() == (tmp_path / "dry.patch").read_bytes() == (tmp_path / "real.patch").read_bytes()
    git(tmp_path / "by-apply", "apply", "--whitespace=nowarn", patch)
    git(tmp_path / "by-am", "am", "-q", "--keep-cr", patch)
    changed = {change["path"] for change in json.loads((root / ".rocm3d" / "patch.json").read_text())["changes"]}
    assert set(ODD) - changed == {"requirements.txt"}
    assert snapshot(root) == snapshot(tmp_path / "by-apply") == snapshot(tmp_path / "by-am")
    assert git(tmp_path / "by-am", "status", "--porcelain") == ""


def test_edits_in_a_submodule_leave_it_and_the_tree_around_clean(rocm3d, example, with_submodule, git, snapshot):
    root, commit = with_submodule(
        {"knn.cu": ODD["csrc/latin.cu"], "setup.py": b"from setuptools import setup\nsetup(name='knn')\n"},
        example("splat-trainer"),
    )
    module = root / "libs" / "knn"
    before = snapshot(module)

    ended = rocm3d("port", root, "--gpu", "mi300x", "--until", "planned")

    patch = root / "rocm-port" / "patches" / f"knn@{commit}.patch"
    assert ended.code == 0, ended.err
    assert before == snapshot(module)
    assert git(module, "status", "--porcelain") == ""
    assert patch.is_file()
    verdicts = json.loads((root / ".rocm3d" / "verdicts.json").read_text())["verdicts"]
    proof = next(item for item in verdicts if item["probe"] == "prove_isolation")
    assert proof["outcome"] == "passed"
    assert "libs/knn/knn.cu" in proof["looked_at"]

    # As in install.sh; porting the patched tree again changes nothing.
    git(module, "apply", patch)
    once = snapshot(root)
    again = rocm3d("port", root, "--gpu", "mi300x", "--until", "planned")
    assert again.code == 0, again.err
    assert once == snapshot(root)


def test_unscanned_code_is_listed_with_commands(rocm3d, example, with_submodule, git, tmp_path):
    root, _ = with_submodule({"knn.cu": b"int x;\n"}, example("splat-trainer"))
    git(tmp_path, "clone", "-q", root, "bare-modules")

    ended = rocm3d("apply", tmp_path / "bare-modules", "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    assert "not scanned: 1 submodule that is not checked out (libs/knn)" in ended.err
    assert "Run: git submodule update --init --recursive -- libs/knn" in ended.err
