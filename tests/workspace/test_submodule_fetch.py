from __future__ import annotations

import pytest

from rocm3d.workspace import submodule_fetch
from rocm3d.workspace.submodule_fetch import SubmoduleFetch
from rocm3d.workspace.submodule_sources import MAX_DEPTH, SubmoduleSource


@pytest.fixture(autouse=True)
def _user(tmp_path, monkeypatch):
    (tmp_path / "gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    return root


@pytest.fixture
def served(tmp_path, git):
    root = tmp_path / "served"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.cu").write_bytes(b"int a;\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return f"file://{root}", git(root, "rev-parse", "HEAD").strip()


def fetch(root, *sources, keep_git=False, progress=lambda _: None):
    work = SubmoduleFetch(root, progress, keep_git=keep_git)
    work.fetch_all(sources)
    return work


def leftovers(root):
    return list((root / ".rocm3d").glob("fetch-*"))


@pytest.mark.parametrize("path", ["../out", "/out", "a/../../out", ".git/hooks", "libs/.rocm3d", ""])
def test_a_path_that_leads_elsewhere_is_refused(tree, tmp_path, served, path):
    work = fetch(tree, SubmoduleSource(path, *served))

    assert [item.path for item in work.failed] == [path]
    assert not (tmp_path / "out").exists()
    assert not (tree / ".git").exists()


def test_a_linked_parent_folder_is_not_followed(tree, tmp_path, served):
    (tmp_path / "out").mkdir()
    (tree / "libs").symlink_to(tmp_path / "out")

    work = fetch(tree, SubmoduleSource("libs/knn", *served))

    assert [item.path for item in work.failed] == ["libs/knn"]
    assert not any((tmp_path / "out").iterdir())
    assert leftovers(tree) == []


@pytest.mark.parametrize("kind", ["file", "folder with a file", "link"])
def test_files_are_not_replaced(tree, tmp_path, served, kind):
    (tree / "libs").mkdir()
    target = tree / "libs" / "knn"
    if kind == "file":
        target.write_text("mine")
    elif kind == "link":
        target.symlink_to(tmp_path)
    else:
        target.mkdir()
        (target / "mine").write_text("mine")

    work = fetch(tree, SubmoduleSource("libs/knn", *served))

    assert "has files already" in work.failed[0].reason
    assert not (target / "a.cu").exists()


def test_a_problem_is_the_reason_and_others_are_fetched(tree, served):
    work = fetch(tree, SubmoduleSource("a", "", "", problem="no URL"), SubmoduleSource("b", *served))

    assert [item.text for item in work.failed] == ["submodule a was not fetched: no URL"]
    assert [item.path for item in work.fetched] == ["b"]


@pytest.mark.parametrize("kind", ["deep", "wide"])
def test_submodules_without_end_end(tree, served, monkeypatch, kind):
    """A repository can have itself as a submodule, at another commit."""
    counts = {"deep": 1, "wide": 3}
    monkeypatch.setattr(
        submodule_fetch,
        "submodules_of_commit",
        lambda *_: tuple(SubmoduleSource(f"m{number}", *served) for number in range(counts[kind])),
    )
    monkeypatch.setattr(
        submodule_fetch, "fetch_checkout", lambda _, commit, folder: (folder / ".git").mkdir(parents=True)
    )
    monkeypatch.setattr(submodule_fetch, "MAX_SUBMODULES", 12)

    work = fetch(tree, SubmoduleSource("m", *served))

    assert len(work.fetched) == {"deep": MAX_DEPTH + 1, "wide": 12}[kind]
    assert work.failed
    assert all("inside each other" in item.reason for item in work.failed)


def test_an_interrupted_fetch_leaves_nothing(tree, served, monkeypatch):
    (tree / "libs" / "knn").mkdir(parents=True)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(submodule_fetch, "submodules_of_commit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(tree, SubmoduleSource("libs/knn", *served))

    assert leftovers(tree) == []
    assert not any((tree / "libs" / "knn").iterdir())


@pytest.mark.parametrize("keep_git", [False, True])
@pytest.mark.parametrize("is_present", [False, True])
def test_files_are_put_where_the_submodule_belongs(tree, served, keep_git, is_present):
    if is_present:
        (tree / "libs" / "knn").mkdir(parents=True)
    messages = []

    work = fetch(tree, SubmoduleSource("libs/knn", *served), keep_git=keep_git, progress=messages.append)

    assert not work.failed
    assert (tree / "libs/knn/a.cu").read_bytes() == b"int a;\n"
    assert (tree / "libs/knn/.git").exists() == keep_git
    assert leftovers(tree) == []
    assert messages == [f"fetching libs/knn from {served[0]}"]


def test_symbolic_links_of_a_submodule_stay_links(tree, tmp_path, git):
    root = tmp_path / "linked"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "out").symlink_to("../../../etc")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")

    fetch(tree, SubmoduleSource("m", f"file://{root}", git(root, "rev-parse", "HEAD").strip()))

    assert str((tree / "m" / "out").readlink()) == "../../../etc"
