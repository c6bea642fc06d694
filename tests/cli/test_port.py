from __future__ import annotations

import json
import shlex
import shutil

import pytest

EXAMPLES = [
    "already-portable", "cmake-lib", "cpu-only-gate", "deform-op", "jit-extension", "mesh-bake", "pins-only",
    "point-backbone", "splat-trainer", "video-attention",
]  # fmt: skip


def test_it_ends_with_the_report_the_state_and_the_next_command(rocm3d, example, tmp_path):
    root = example("splat-trainer")

    ended = rocm3d("port", root, "--gpu", "mi300x", "--review", "--into", tmp_path / "a copy")

    page, rungs, *_, last = ended.out.splitlines()
    copy = tmp_path / "a copy"
    assert page == str(copy / ".rocm3d" / "report.html")
    assert (copy / ".rocm3d" / "report.html").is_file()
    assert rungs.startswith("scanned ok, planned ok, edited ")
    state = json.loads((copy / ".rocm3d" / "evidence.json").read_text())["state"]
    assert [item["name"] for item in state["rungs"]][:3] == ["scanned", "planned", "edited"]
    assert last.startswith("next: ")
    assert last == f"next: {state['next'].replace(' .', f' {shlex.quote(str(copy))}')}"


def test_the_exit_code_follows_from_the_bar(rocm3d, example):
    root = example("pins-only")

    codes = [
        rocm3d("port", root, "--gpu", "mi300x", "--until", rung).code
        for rung in ("scanned", "planned", "edited", "resolved", "judged")
    ]

    assert codes == [0, 0, 0, 1, 1]


def test_an_unknown_rung_is_refused_before_anything_is_done(rocm3d, example, snapshot):
    root = example("pins-only")
    before = snapshot(root)

    ended = rocm3d("port", root, "--gpu", "mi300x", "--until", "compile")

    assert ended.code == 2
    assert "unknown rung 'compile'" in ended.err
    assert "compiled" in ended.err
    assert before == snapshot(root)


def test_a_check_of_one_level_leaves_what_others_showed(rocm3d, example):
    root = example("pins-only")
    rocm3d("port", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "workload")
    names = {item["level"] for item in json.loads((root / ".rocm3d" / "verdicts.json").read_text())["verdicts"]}

    assert names == {"static", "resolve", "compile", "nvidia", "import", "backend", "numerics", "workload"}
    assert {line.split()[1] for line in ended.out.splitlines()} == {"workload"}
    assert ended.err.splitlines()[-1].startswith("next: rocm3d ")


def test_after_an_edit_earlier_checks_do_not_count(rocm3d, example):
    root = example("splat-trainer")
    rocm3d("port", root, "--gpu", "mi300x", "--review")
    (root / "train.py").write_text("changed = True\n")

    rocm3d("report", root)
    shown = rocm3d("report", root, "--format", "console").out

    assert "edited not run" in shown
    assert "the files have changed since the edits were made and checked" in shown
    assert shown.splitlines()[-1] == f"next: rocm3d verify {root} --level static"


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_every_example_is_ported_twice_and_undone(rocm3d, example, snapshot, name, gpu):
    root = example(name)
    before = snapshot(root)

    first = rocm3d("port", root, "--gpu", gpu)
    once = snapshot(root)
    second = rocm3d("port", root, "--gpu", gpu)
    twice = snapshot(root)
    rocm3d("undo", root)

    assert first.code in (0, 1), first.err
    assert first.code == second.code
    assert first.out == second.out
    assert once == twice
    assert before == snapshot(root)


def test_a_portable_repository_gets_no_edit(rocm3d, example, snapshot):
    root = example("already-portable")
    before = snapshot(root)

    rocm3d("port", root, "--gpu", "mi300x")

    after = snapshot(root)
    assert before == {name: after[name] for name in before}
    assert {name.split("/")[0] for name in set(after) - set(before)} == {"rocm-port"}


def test_unsupported_form_is_left_for_a_person(rocm3d, tmp_path):
    (tmp_path / "setup.py").write_text(
        "from torch.utils.cpp_extension import CUDAExtension\n"
        'flags = ["-O3", "--use_fast_math"]\n'
        'flags.insert(0, "-lineinfo")\n'
        'CUDAExtension("x", ["x.cu"], extra_compile_args={"nvcc": flags})\n'
    )

    ended = rocm3d("port", tmp_path, "--gpu", "mi300x", "--until", "edited")

    left = json.loads((tmp_path / ".rocm3d" / "patch.json").read_text())["left"]
    assert ended.code == 1, ended.err
    assert "1 task for a person" in ended.out
    assert [(item["finding"]["rule"], item["finding"]["message"].split()[0]) for item in left] == [
        ("nvcc_flag", "-lineinfo")
    ]
    assert "does not handle this form" in left[0]["reason"]


def test_attention_imported_at_module_level_or_lazily_is_edited(rocm3d, tmp_path):
    (tmp_path / "firm.py").write_text(
        "import torch\nimport spconv.pytorch\nfrom flash_attn import flash_attn_func\nflash_attn_func(q, k, v)\n"
    )
    (tmp_path / "lazy.py").write_text(
        "import torch\ndef f(q):\n    import spconv.pytorch\n    from flash_attn import flash_attn_func\n"
        "    return flash_attn_func(q, q, q)\n"
    )

    ended = rocm3d("port", tmp_path, "--gpu", "mi300x")

    patch = json.loads((tmp_path / ".rocm3d" / "patch.json").read_text())
    edited = {item["path"]: item["recipes"] for item in patch["changes"] if item["kind"] == "edited"}
    assert edited == {"firm.py": ["flash-attention-optional"], "lazy.py": ["flash-attention-optional"]}
    assert [item for item in patch["left"] if item["finding"]["package"] == "flash-attn"] == []
    verdicts = json.loads((tmp_path / ".rocm3d" / "verdicts.json").read_text())["verdicts"]
    assert {item["outcome"] for item in verdicts if item["probe"] == "find_leftovers"} == {"passed"}, ended.err


@pytest.mark.parametrize("name", ["splat-trainer", "cmake-lib", "video-attention"])
def test_repository_with_a_rocm_branch_is_not_edited_again(rocm3d, example, snapshot, name):
    """Port, delete .rocm3d, port again: nothing changes."""
    root = example(name)
    rocm3d("port", root, "--gpu", "mi300x")
    shutil.rmtree(root / ".rocm3d")
    shutil.rmtree(root / "rocm-port")
    before = snapshot(root)

    rocm3d("port", root, "--gpu", "mi300x")

    after = snapshot(root)
    assert before == {path: after[path] for path in before}
