from __future__ import annotations

import subprocess
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.errors import MachineError
from rocm3d.verify.resolution import build_source
from rocm3d.verify.resolution.build_source import (
    BuildFiles,
    GitSource,
    build_files_from_archive,
    build_files_from_git,
    build_files_in_tree,
    git_source,
)
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.web import WebClient


@pytest.mark.parametrize("text", ["", "numpy", "https://h/a.whl", "git+ssh", "./folder", "hg+https://h/o/n"])
def test_other_requirements_are_not_git_sources(text):
    assert git_source(text) is None


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("git+https://h/o/n.git", GitSource("https://h/o/n.git")),
        ("git+https://h/o/n@rocm", GitSource("https://h/o/n", "rocm")),
        ("git+https://u:p@h/o/n@refs/pull/957/head", GitSource("https://u:p@h/o/n", "refs/pull/957/head")),
        ("git+https://h/o/n.git#subdirectory=b/torch&egg=x", GitSource("https://h/o/n.git", "HEAD", "b/torch")),
    ],
)
def test_git_requirements_are_parsed(text, source):
    assert git_source(text) == source


@given(st.text(max_size=60))
def test_any_text_is_accepted(text):
    assert git_source(f"git+{text}") is None or "://" in text


def test_a_tree_without_the_files_is_false(tmp_path):
    (tmp_path / "a.txt").write_text("")

    assert not build_files_in_tree(Tree.open(tmp_path), "./ext")


def test_files_of_a_folder_of_the_tree(tmp_path):
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext" / "setup.py").write_text("x")

    assert build_files_in_tree(Tree.open(tmp_path), "./ext") == BuildFiles(setup=b"x")


def test_an_unreachable_repository_is_an_error(tmp_path):
    with pytest.raises(MachineError, match=r"^http://127\.0\.0\.1:9/o/n does not respond: "):
        build_files_from_git(GitSource("http://127.0.0.1:9/o/n"), WebClient(), tmp_path / "git")


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "origin"
    (folder / "sub").mkdir(parents=True)
    (folder / "setup.py").write_text("outer")
    (folder / "sub" / "pyproject.toml").write_text("inner")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "x"], ["tag", "v1"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    return folder.as_uri()


def test_an_unknown_ref_is_an_error(repository, tmp_path):
    with pytest.raises(MachineError, match="at no-such: "):
        build_files_from_git(GitSource(repository, "no-such"), WebClient(), tmp_path / "git")


def test_ref_is_never_an_option(repository, tmp_path):
    source = git_source(f"git+{repository}@--upload-pack=touch {tmp_path}/ran;git-upload-pack")
    with pytest.raises(MachineError, match="upload-pack"):
        build_files_from_git(source, WebClient(), tmp_path / "git")
    assert not (tmp_path / "ran").exists()


def test_files_of_a_repository(repository, tmp_path):
    assert build_files_from_git(GitSource(repository), WebClient(), tmp_path / "a") == BuildFiles(setup=b"outer")
    assert build_files_from_git(GitSource(repository, "v1", "sub"), WebClient(), tmp_path / "b") == BuildFiles(
        pyproject=b"inner"
    )


def test_an_invalid_archive_is_an_error(tmp_path):
    (tmp_path / "a-1.tar.gz").write_bytes(b"not an archive")

    with pytest.raises(MachineError, match="cannot read"):
        build_files_from_archive((tmp_path / "a-1.tar.gz").as_uri(), WebClient())


def test_a_large_archive_is_an_error(index, monkeypatch):
    monkeypatch.setattr(build_source, "_MAX_ARCHIVE_BYTES", 10)
    archive = index.sdist("a", "1", setup="x")

    with pytest.raises(MachineError, match="or it is larger than"):
        build_files_from_archive(archive.as_uri(), WebClient())


def test_files_of_an_sdist(index):
    assert build_files_from_archive(
        index.sdist("a", "1", setup="x", pyproject="y").as_uri(), WebClient()
    ) == BuildFiles(b"y", b"x")


def test_files_of_a_zip_and_only_those_at_its_top(tmp_path):
    with zipfile.ZipFile(tmp_path / "a-1.zip", "w") as archive:
        archive.writestr("a-1/setup.py", "top")
        archive.writestr("a-1/inner/pyproject.toml", "deep")

    assert build_files_from_archive((tmp_path / "a-1.zip").as_uri(), WebClient()) == BuildFiles(setup=b"top")
