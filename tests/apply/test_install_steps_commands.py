from __future__ import annotations

import pytest

from rocm3d.apply.install_steps import (
    InstallCommands,
    WheelInstall,
    clone_word,
    fetch_line,
    folder_word,
    install_commands,
)
from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.requirement_source import GitCheckout
from rocm3d.workspace.tree import Tree


@pytest.fixture
def rewrite(tmp_path, make_decision):
    (tmp_path / "libs" / "knn").mkdir(parents=True)
    (tmp_path / "libs" / "knn" / "setup.py").write_text("")

    def run(*commands: str, keep=None, kind: str = "build", **more) -> InstallCommands:
        split = tuple(tuple(command.split()) for command in commands)
        return install_commands(
            make_decision("some", kind, commands=split, **more), InstallableFolders(Tree.open(tmp_path)), keep
        )

    return run


def test_no_commands_without_a_route(rewrite):
    assert rewrite(kind="drop") == InstallCommands()


@pytest.mark.parametrize("path", [".", "./submodules/other", "/tmp/other", "libs/other"])
def test_missing_folder_is_manual(rewrite, path):
    result = rewrite(f"pip install --no-deps {path}")
    assert (result.wheels, result.lines) == ([], [])
    assert result.manual == [f"pip install --no-deps {path}  # not found: {path}"]


@pytest.mark.parametrize("kind", ["build", "replace", "blocked"])
def test_route_outside_pip_is_manual(rewrite, kind):
    assert rewrite(kind=kind, reason="see there").manual == [f"{kind}: see there"]


def test_clone_by_an_unsafe_transport_is_manual(rewrite):
    result = rewrite("git clone ext::sh%20-c%20evil")
    assert (result.lines, result.manual) == ([], ["git clone ext::sh%20-c%20evil"])


def test_wheels_are_grouped_by_options(rewrite):
    result = rewrite(
        "pip install --no-deps a>=1 b", "pip3 install --index-url https://host/simple/ --no-deps c", env={"A": "1"}
    )
    assert result.lines == []
    assert result.wheels == [
        WheelInstall(("--no-deps",), (("A", "1"),), ("a>=1", "b")),
        WheelInstall(("--index-url", "https://host/simple/", "--no-deps"), (("A", "1"),), ("c",)),
    ]


@pytest.mark.parametrize("option", ["--extra-index-url https://host/s", "--extra-index-url=https://host/s"])
def test_a_second_index_becomes_the_only_one(rewrite, option):
    assert rewrite(f"pip install {option} a").wheels == [WheelInstall(("--index-url", "https://host/s"), (), ("a",))]


def test_a_requirement_with_an_index_needs_no_command(rewrite):
    result = rewrite(kind="replace", requirement="amd_x", index="https://host/s")
    assert result.wheels == [WheelInstall(("--no-deps", "--index-url", "https://host/s"), (), ("amd_x",))]


def test_a_source_from_the_index_is_built_in_the_environment(rewrite):
    result = rewrite("pip install --no-build-isolation --no-deps flash", env={"B": "a b", "A": "1"})
    assert result == InstallCommands(lines=["A=1 B='a b' pip_install --no-build-isolation --no-deps flash"])


def test_a_clone_is_fetched_and_built(rewrite):
    result = rewrite("git clone -b rocm --depth 1 --recursive https://host/x.git own", "pip install -e ./own/part")
    assert result.lines == ["fetch x-rocm x https://host/x.git rocm", "build \"$build\"/x-rocm/part '' -e"]


def test_a_git_address_is_cloned_as_well(rewrite):
    result = rewrite("pip install --no-deps git+https://host/x.git@refs/pull/1/head#subdirectory=a")
    assert result.lines == [
        "fetch x-refs-pull-1-head x https://host/x.git refs/pull/1/head",
        "build \"$build\"/x-refs-pull-1-head/a '' --no-deps",
    ]


def test_a_folder_of_the_repository_is_built_in_place(rewrite):
    assert rewrite("pip install ./elsewhere/knn").lines == ["build \"$root\"/libs/knn ''"]
    assert rewrite("pip install ./submodules/some", keep="a b").lines == ["build \"$root\"/'a b' ''"]


def test_where_the_repository_clones_it_itself_that_clone_is_built(rewrite):
    stored = GitCheckout("https://host/splat.git", "v1", "sub/some")
    lines = ["fetch splat-v1 splat https://host/splat.git v1", "build \"$build\"/splat-v1/sub/some '' --no-deps"]
    assert rewrite("pip install --no-deps ./submodules/some", keep=stored).lines == lines
    assert rewrite(keep=stored).lines[0] == lines[0]


def test_other_programs_are_run_as_they_are(rewrite):
    result = rewrite("pip uninstall -y x", "python setup.py x;y", "make -j")
    assert result.lines == ['run "$PYTHON" -m pip uninstall -y x', "run \"$PYTHON\" setup.py 'x;y'", "run make -j"]


def test_a_route_with_a_build_keeps_the_order_of_its_commands(rewrite):
    result = rewrite("pip install a", "pip install --no-build-isolation b")
    assert result.lines == ["pip_install a", "pip_install --no-build-isolation b"]


def test_words_are_quoted():
    assert (
        fetch_line(GitCheckout("https://host/$(x).git", "a b"))
        == "fetch source-a-b source 'https://host/$(x).git' 'a b'"
    )
    assert (folder_word("."), folder_word("a b")) == ('"$root"', "\"$root\"/'a b'")
    assert clone_word("x", "a b") == "\"$build\"/'x/a b'"
