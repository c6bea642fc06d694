from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.apply.additions.requirements import render
from rocm3d.apply.install_steps import EXTRA_REQUIREMENTS
from rocm3d.manifest.requirements import read
from rocm3d.pipeline import Repository, resolve_gpu
from rocm3d.workspace.tree import Tree

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

DATA = (
    b"# \xff odd\r\ntorch==2.1+cu118 \\\r\n  --hash=sha256:"
    + b"0" * 64
    + b"\r\nnumpy  # keep\r\n-f https://host/cu118\r\nxformers"
)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "requirements.txt").write_bytes(DATA)
    return Tree.open(tmp_path)


def test_undecided_lines_stay_byte_for_byte(tree, make_plan, make_decision):
    """A finding alone changes nothing, and neither does a record that keeps the package."""
    (tree.root / "requirements.txt").write_bytes(DATA.replace(b"+cu118", b""))
    plan = make_plan(decisions=(make_decision("torch", package=None), make_decision("xformers", "keep")))
    assert render(plan, Tree.open(tree.root), "rocm-port") == {"requirements.txt": DATA.replace(b"+cu118", b"")}


def test_a_finding_in_another_file_changes_no_index_of_this_file(tree, make_plan, make_decision, make_finding):
    plan = make_plan(decisions=(make_decision("torch"),), answered=(make_finding("requirements/dev.txt", 5),))
    assert b"\r\n-f https://host/cu118\r\n" in render(plan, tree, "rocm-port")["requirements.txt"]


def test_binary_files_are_left_out(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_bytes(b"a\0b")
    assert render(make_plan(), Tree.open(tmp_path), "rocm-port") == {}


def test_a_repository_that_needs_nothing_gets_no_file(tmp_path, make_plan):
    assert render(make_plan(), Tree.open(tmp_path), "rocm-port") == {}


def test_exactly_the_decided_lines_change(tree, make_plan, make_decision, make_finding):
    plan = make_plan(
        decisions=(make_decision("torch"), make_decision("xformers", "replace", requirement="xformers-rocm>=1")),
        answered=(make_finding("requirements.txt", 5),),
    )
    assert render(plan, tree, "rocm-port")["requirements.txt"] == (
        b"# \xff odd\r\n# rocm3d: torch: drop: why\r\nnumpy  # keep\r\n"
        b"# rocm3d: removed: https://host/cu118\r\n"
        b"xformers-rocm>=1  # rocm3d: instead of xformers\r\n"
    )


def test_copies_keep_relative_paths_and_include_other_names(tmp_path, make_plan, make_decision):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/base.txt").write_bytes(b"-r ../deps/core.list\n")
    (tmp_path / "requirements.txt").write_bytes(b"-r requirements/base.txt\n")
    (tmp_path / "deps").mkdir()
    (tmp_path / "deps/core.list").write_bytes(b"torch\n")
    result = render(make_plan(decisions=(make_decision("torch"),)), Tree.open(tmp_path), "rocm-port")
    assert set(result) == {"requirements/base.txt", "requirements.txt", "deps/core.list"}
    assert result["deps/core.list"] == b"# rocm3d: torch: drop: why\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_reason_of_two_lines_and_commands_stay_comments(tmp_path, make_plan, make_decision, newline):
    (tmp_path / "requirements.txt").write_bytes(f"torch{newline}numpy{newline}".encode())
    decision = make_decision("torch", "build", reason="one\ntwo", commands=(("pip", "install", "x"), ("make",)))
    copy = render(make_plan(decisions=(decision,)), Tree.open(tmp_path), "rocm-port")["requirements.txt"]
    assert [entry.name for entry in read("requirements.txt", copy).mentions] == ["numpy"]
    assert b"#   pip install x" in copy
    assert copy.count(newline.encode()) == copy.count(b"\n")


def keep(make_decision, *names):
    return tuple(make_decision(name, "keep", package=None, route=None) for name in names)


def test_requirements_of_other_manifests_get_an_extra_file(tree, make_plan, make_decision):
    (tree.root / "setup.sh").write_text("pip install numpy 'tqdm>=4' torch\n")
    plan = make_plan(decisions=(make_decision("torch"), *keep(make_decision, "tqdm", "numpy")))
    result = render(plan, Tree.open(tree.root), "rocm-port")
    assert [line for line in result[EXTRA_REQUIREMENTS].decode().splitlines() if line[0] != "#"] == [
        "tqdm>=4  # setup.sh:1"
    ]


def test_without_a_requirements_file_one_is_made(tmp_path, make_plan, make_decision):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "requirements.txt").write_text("einops\n")
    (tmp_path / "setup.sh").write_text("pip install -r 'a folder/requirements.txt' tqdm\n")
    result = render(make_plan(decisions=keep(make_decision, "tqdm", "einops")), Tree.open(tmp_path), "rocm-port")
    lines = [line for line in result["requirements.txt"].decode().splitlines() if line[0] != "#"]
    assert lines == ["-r 'a folder/requirements.txt'", "tqdm  # setup.sh:1"]
    assert result["a folder/requirements.txt"] == b"einops\n"


def test_the_constraints_file_is_not_copied(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("-c constraints.txt\n")
    (tmp_path / "constraints.txt").write_text("numpy<2\n")
    assert set(render(make_plan(), Tree.open(tmp_path), "rocm-port")) == {"requirements.txt"}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_no_port_of_an_example_has_an_additional_index(example, knowledge, name):
    repository = Repository(example(name), knowledge)
    for gpu in ("mi300x", "rx7900xtx"):
        repository.apply(repository.plan(resolve_gpu(gpu, knowledge)))
        files = [path for path in (repository.root / "rocm-port").rglob("*") if path.is_file()]
        assert files
        assert [] == [path.name for path in files if "extra-index" in path.read_text(errors="replace")]
