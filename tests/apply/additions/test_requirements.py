from __future__ import annotations

import pytest

from rocm3d.apply.additions.requirements import render
from rocm3d.manifest.requirements import read
from rocm3d.workspace.tree import Tree

DATA = (
    b"# \xff odd\r\ntorch==2.1+cu118 \\\r\n  --hash=sha256:"
    + b"0" * 64
    + b"\r\nnumpy  # keep\r\n-f https://host/cu118\r\nxformers"
)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "requirements.txt").write_bytes(DATA)
    return Tree.open(tmp_path)


def test_without_findings_the_copy_is_byte_identical(tree, make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("torch"), make_decision("numpy")))
    assert render(plan, tree, "rocm-port") == {"requirements.txt": DATA}


def test_a_package_without_a_record_is_kept(tree, make_plan, make_decision, make_finding):
    plan = make_plan(decisions=(make_decision("torch", package=None),), answered=(make_finding("requirements.txt", 2),))
    assert render(plan, tree, "rocm-port")["requirements.txt"] == DATA


def test_a_finding_in_another_file_changes_nothing_here(tree, make_plan, make_decision, make_finding):
    plan = make_plan(decisions=(make_decision("torch"),), answered=(make_finding("requirements/dev.txt", 2),))
    assert render(plan, tree, "rocm-port")["requirements.txt"] == DATA


def test_binary_files_are_left_out(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_bytes(b"a\0b")
    assert render(make_plan(), Tree.open(tmp_path), "rocm-port") == {}


def test_exactly_the_answered_lines_change(tree, make_plan, make_decision, make_finding):
    plan = make_plan(
        decisions=(make_decision("torch"), make_decision("xformers", "replace", requirement="xformers-rocm>=1")),
        answered=tuple(make_finding("requirements.txt", line) for line in (2, 5, 6)),
    )
    assert render(plan, tree, "rocm-port")["requirements.txt"] == (
        b"# \xff odd\r\n# rocm3d: torch: drop: why\r\nnumpy  # keep\r\n"
        b"# rocm3d: left out: https://host/cu118\r\n"
        b"xformers-rocm>=1  # rocm3d: instead of xformers\r\n"
    )


def test_names_are_compared_as_pip_does(tmp_path, make_plan, make_decision, make_finding):
    (tmp_path / "requirements.txt").write_bytes(b"Flash_Attn==2\n")
    plan = make_plan(decisions=(make_decision("flash-attn"),), answered=(make_finding("requirements.txt"),))
    assert render(plan, Tree.open(tmp_path), "rocm-port")["requirements.txt"] == b"# rocm3d: flash-attn: drop: why\n"


def test_copies_lie_as_the_originals_do(tmp_path, make_plan):
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/base.txt").write_bytes(b"a\n")
    (tmp_path / "requirements.txt").write_bytes(b"-r requirements/base.txt\n")
    assert set(render(make_plan(), Tree.open(tmp_path), "rocm-port")) == {"requirements/base.txt", "requirements.txt"}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_reason_of_two_lines_and_commands_stay_comments(tmp_path, make_plan, make_decision, make_finding, newline):
    (tmp_path / "requirements.txt").write_bytes(f"torch{newline}numpy{newline}".encode())
    decision = make_decision("torch", "build", reason="one\ntwo", commands=(("pip", "install", "x"), ("make",)))
    plan = make_plan(decisions=(decision,), answered=(make_finding("requirements.txt"),))
    copy = render(plan, Tree.open(tmp_path), "rocm-port")["requirements.txt"]
    assert [item.name for item in read("requirements.txt", copy).mentions] == ["numpy"]
    assert b"#   pip install x" in copy
    assert copy.count(newline.encode()) == copy.count(b"\n")
