from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.manifest import Mention
from rocm3d.manifest.requirements import read
from rocm3d.verify.resolution.sets import RequirementLine, read_lines, requirement_sets, to_line
from rocm3d.workspace.tree import Tree


@pytest.fixture
def tree(tmp_path):
    def make(**files: str) -> Tree:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_txt", ".txt").replace("_py", ".py").replace(
                "_md", ".md"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree.open(tmp_path)

    return make


def everything(path: str) -> bool:
    return True


def mention(text: str, **more: str) -> Mention:
    return Mention(more.pop("name", text), text, 1, 1, 1, **more)


@pytest.mark.parametrize("section", ["conda", "pip:conda", "optional", "build-system", "extras_require"])
def test_non_install_sections_are_ignored(section):
    assert to_line(mention("numpy", section=section)) is None


@pytest.mark.parametrize("url", ["./submodules/simple-knn", ".", "/abs", "../up"])
def test_folders_are_left_out(url):
    assert to_line(mention(url, name="simple-knn", url=url)) is None


@pytest.mark.parametrize("name", ["python", "$PACKAGE", "*", ""])
def test_invalid_names_are_ignored(name):
    assert to_line(mention(name)) is None


def test_hashes_are_cut_off():
    assert to_line(mention("torch==2.3.1 --hash=sha256:aa", name="torch")) == RequirementLine("torch", "torch==2.3.1")


def test_a_version_that_pip_does_not_know_becomes_the_name():
    assert to_line(mention("numpy ^1.2", name="numpy", version="^1.2")) == RequirementLine("numpy", "numpy")


def test_a_url_is_unchanged():
    line = to_line(mention("git+https://h/o/nvdiffrast", name="nvdiffrast", url="git+https://h/o/nvdiffrast"))

    assert line == RequirementLine("nvdiffrast", "git+https://h/o/nvdiffrast", "git+https://h/o/nvdiffrast")


@given(st.binary(max_size=200))
def test_any_requirements_file_gives_lines_without_line_ends(data):
    lines = [line for item in read("requirements.txt", data).mentions if (line := to_line(item))]

    assert not [line for line in lines if "\n" in line.text]


def test_documentation_is_not_a_set(tree):
    assert requirement_sets(tree(README_md="```sh\npip install torch\n```\n"), everything) == []


def test_a_file_that_others_include_counts_with_them(tree):
    repository = tree(
        requirements_txt="-r more/base.txt\n-c constraints.txt\na\n", more__base_txt="b\n", constraints_txt="c<2\n"
    )

    (result,) = requirement_sets(repository, everything)

    assert result.source == "requirements.txt"
    assert [line.text for line in result.lines] == ["a", "b"]
    assert [line.text for line in result.constraints] == ["c<2"]


def test_files_that_include_each_other_are_one_set(tree):
    repository = tree(requirements_txt="-r requirements2.txt\na\n", requirements2_txt="-r requirements.txt\nb\n")

    (result,) = requirement_sets(repository, everything)

    assert [line.text for line in result.lines] == ["a", "b"]


def test_a_missing_included_file_is_ignored(tree):
    (result,) = requirement_sets(tree(requirements_txt="-r missing.txt\na\n"), everything)

    assert [line.text for line in result.lines] == ["a"]


def test_indexes_and_pages_are_separate_from_lines(tree):
    repository = tree(requirements_txt="--extra-index-url https://h/whl\n-f https://h/page.html\n-f ./wheels\na\n")

    (result,) = requirement_sets(repository, everything)

    assert result.urls == ("https://h/whl", "https://h/page.html")


def test_the_outermost_file_comes_first(tree):
    repository = tree(deep__requirements_txt="b\n", requirements_txt="a\n", setup_py="setup(install_requires=['c'])\n")

    result = requirement_sets(repository, everything)

    assert [item.source for item in result] == ["requirements.txt", "setup.py", "deep/requirements.txt"]


def test_lines_of_a_missing_file(tree):
    assert read_lines(tree(a_py=""), "constraints.txt") == ()
