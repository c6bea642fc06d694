from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.manifest import Mention
from rocm3d.manifest.requirements import read
from rocm3d.verify.resolution.sets import Line, line_of, lines_of, requirement_sets
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
def test_what_is_no_plain_install_is_left_out(section):
    assert line_of(mention("numpy", section=section)) is None


@pytest.mark.parametrize("url", ["./submodules/simple-knn", ".", "/abs", "../up"])
def test_folders_are_left_out(url):
    assert line_of(mention(url, name="simple-knn", url=url)) is None


@pytest.mark.parametrize("name", ["python", "$PACKAGE", "*", ""])
def test_what_is_no_distribution_is_left_out(name):
    assert line_of(mention(name)) is None


def test_hashes_are_cut_off():
    assert line_of(mention("torch==2.3.1 --hash=sha256:aa", name="torch")) == Line("torch", "torch==2.3.1")


def test_a_version_that_pip_does_not_know_becomes_the_name():
    assert line_of(mention("numpy ^1.2", name="numpy", version="^1.2")) == Line("numpy", "numpy")


def test_an_address_is_kept_as_written():
    line = line_of(mention("git+https://h/o/nvdiffrast", name="nvdiffrast", url="git+https://h/o/nvdiffrast"))

    assert line == Line("nvdiffrast", "git+https://h/o/nvdiffrast", "git+https://h/o/nvdiffrast")


@given(st.binary(max_size=200))
def test_any_requirements_file_gives_lines_without_line_ends(data):
    lines = [line for item in read("requirements.txt", data).mentions if (line := line_of(item))]

    assert not [line for line in lines if "\n" in line.text]


def test_files_that_people_only_read_are_no_sets(tree):
    assert requirement_sets(tree(README_md="```sh\npip install torch\n```\n"), everything) == []


def test_a_file_that_others_include_counts_with_them(tree):
    made = tree(
        requirements_txt="-r more/base.txt\n-c constraints.txt\na\n", more__base_txt="b\n", constraints_txt="c<2\n"
    )

    (found,) = requirement_sets(made, everything)

    assert found.source == "requirements.txt"
    assert [line.text for line in found.lines] == ["a", "b"]
    assert [line.text for line in found.constraints] == ["c<2"]


def test_files_that_include_each_other_are_one_set(tree):
    made = tree(requirements_txt="-r requirements2.txt\na\n", requirements2_txt="-r requirements.txt\nb\n")

    (found,) = requirement_sets(made, everything)

    assert [line.text for line in found.lines] == ["a", "b"]


def test_a_file_that_is_not_there_is_passed_over(tree):
    (found,) = requirement_sets(tree(requirements_txt="-r missing.txt\na\n"), everything)

    assert [line.text for line in found.lines] == ["a"]


def test_indexes_and_pages_are_kept_apart_from_lines(tree):
    made = tree(requirements_txt="--extra-index-url https://h/whl\n-f https://h/page.html\n-f ./wheels\na\n")

    (found,) = requirement_sets(made, everything)

    assert found.urls == ("https://h/whl", "https://h/page.html")


def test_the_outermost_file_comes_first(tree):
    made = tree(deep__requirements_txt="b\n", requirements_txt="a\n", setup_py="setup(install_requires=['c'])\n")

    found = requirement_sets(made, everything)

    assert [item.source for item in found] == ["requirements.txt", "setup.py", "deep/requirements.txt"]


def test_lines_of_a_file_that_is_not_there(tree):
    assert lines_of(tree(a_py=""), "constraints.txt") == ()
