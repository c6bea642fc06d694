from __future__ import annotations

import pytest

from rocm3d.apply.install_steps import EXTRA_REQUIREMENTS, entry_files, install_steps
from rocm3d.apply.repository_requirements import RepositoryRequirements
from rocm3d.workspace.tree import Tree


@pytest.fixture
def steps_of(tmp_path, make_plan):
    def run(*decisions, files: dict[str, str] | None = None):
        root = tmp_path / "repository"
        root.mkdir(exist_ok=True)
        for path, text in (files or {}).items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return install_steps(make_plan(decisions=decisions), Tree.open(root))

    return run


def pip(*words: str) -> tuple[tuple[str, ...], ...]:
    return (("pip", "install", *words),)


def test_nothing_to_install_is_no_step(steps_of, make_decision):
    assert steps_of(make_decision("torch")).steps == ()


def test_no_tools_where_nothing_is_built(steps_of, make_decision):
    result = steps_of(make_decision("a", "replace", commands=pip("--no-deps", "x"), requirement="x"))
    assert [entry.title for entry in result.steps] == ["x from the default index"]


def test_manual_work_is_one_line_each(steps_of, make_decision):
    assert steps_of(make_decision("a", "blocked", reason="one\ntwo")).manual == ("a: blocked: one two",)


def test_one_wheel_step_for_each_index(steps_of, make_decision):
    index = ("--index-url", "https://host/simple/", "--no-deps")
    result = steps_of(
        make_decision("a", "replace", commands=pip(*index, "x")),
        make_decision("b", "replace", commands=pip("--no-deps", "y>=1")),
        make_decision("c", "replace", commands=pip(*index, "z", "x")),
        make_decision("d", "replace", commands=pip("--no-deps", "w"), env={"A": "1"}),
    )
    assert [entry.lines for entry in result.steps] == [
        ("pip_install --index-url https://host/simple/ --no-deps x z",),
        ("pip_install --no-deps 'y>=1'",),
        ("A=1 pip_install --no-deps w",),
    ]
    assert result.steps[0].title == "x, z from https://host/simple/"


def test_two_names_for_one_build_are_built_once(steps_of, make_decision):
    command = pip("--no-deps", "git+https://host/x.git")
    result = steps_of(make_decision("a", "build", commands=command), make_decision("b", "build", commands=command))
    assert [entry.title for entry in result.steps] == ["build tools", "a, b, built"]


def test_the_order_is_requirements_wheels_builds_clones_folders_and_the_repository(steps_of, make_decision):
    files = {
        ".gitmodules": '[submodule "m"]\n\tpath = libs/m\n\turl = https://host/m.git\n',
        "requirements.txt": "numpy\ngit+https://host/dep.git@v1\n./libs/m\n",
        "setup.py": "from setuptools import setup\nsetup(install_requires=['tqdm'])\n",
    }
    stored = [make_decision(name, "keep", package=None) for name in ("numpy", "dep", "m", "tqdm")]
    result = steps_of(
        *stored,
        make_decision("w", "replace", commands=pip("--no-deps", "wheel-of-w")),
        make_decision("f", "build", commands=pip("--no-build-isolation", "f"), env={"ARCH": "{gfx}"}),
        files=files,
    )
    assert [(entry.title, entry.lines) for entry in result.steps] == [
        ("submodules", ("submodules libs/m",)),
        ("build tools", ("tools setuptools wheel ninja packaging",)),
        (
            "requirements of the repository",
            (f'pip_install -r "$port"/requirements.txt -r "$port"/{EXTRA_REQUIREMENTS}',),
        ),
        ("wheel-of-w from the default index", ("pip_install --no-deps wheel-of-w",)),
        ("f, built", ("ARCH=gfx942 pip_install --no-build-isolation f",)),
        ("dep at v1", ("fetch dep-v1 dep https://host/dep.git v1", "build \"$build\"/dep-v1 ''")),
        ("libs/m", ("build \"$root\"/libs/m '' --no-deps",)),
        ("the repository itself", ("build \"$root\" '' --no-deps -e",)),
    ]


@pytest.mark.parametrize(
    ("top", "files", "names", "entries"),
    [
        (False, (), {}, ()),
        (False, (), {"a": ("a", "x")}, ("requirements.txt",)),
        (False, ("r/a.txt",), {}, ("requirements.txt",)),
        (True, ("requirements.txt",), {}, ("requirements.txt",)),
        (True, ("requirements.txt",), {"a": ("a", "x")}, ("requirements.txt", EXTRA_REQUIREMENTS)),
    ],
)
def test_entry_files(tmp_path, top, files, names, entries):
    if top:
        (tmp_path / "requirements.txt").write_text("")
    assert entry_files(RepositoryRequirements(files=files, by_name=names), Tree.open(tmp_path)) == entries
