from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.workspace.submodule_sources import resolve_url, submodule_sources

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def add_submodule(git, root, name, url, path=None, commit=COMMIT):
    """A submodule in .gitmodules and in the index, without fetching anything."""
    with (root / ".gitmodules").open("a", encoding="utf-8") as stream:
        stream.write(f'[submodule "{name}"]\n\tpath = {path or name}\n\turl = {url}\n')
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path or name}")
    git(root, "add", ".gitmodules")


@pytest.fixture
def checkout(tmp_path, git):
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


def test_a_folder_that_is_no_checkout_has_none(tmp_path):
    (tmp_path / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = https://host/a\n')

    assert submodule_sources(tmp_path) == ()


def test_an_entry_of_gitmodules_without_a_commit_is_no_submodule(checkout):
    (checkout / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = https://host/a\n')

    assert submodule_sources(checkout) == ()


def test_a_submodule_without_a_url_has_a_problem(checkout, git):
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{COMMIT},libs/knn")

    (source,) = submodule_sources(checkout)
    assert (source.path, source.commit) == ("libs/knn", COMMIT)
    assert "no URL" in source.problem


def test_a_relative_url_without_a_remote_has_a_problem(checkout, git):
    add_submodule(git, checkout, "a", "../a.git")

    (source,) = submodule_sources(checkout)
    assert "relative" in source.problem


def test_a_link_in_place_of_gitmodules_is_not_followed(checkout, git, tmp_path):
    add_submodule(git, checkout, "a", "https://host/a")
    (checkout / ".gitmodules").rename(tmp_path / "elsewhere")
    (checkout / ".gitmodules").symlink_to(tmp_path / "elsewhere")

    assert "no URL" in submodule_sources(checkout)[0].problem


def test_url_and_commit_are_those_that_git_would_fetch(checkout, git):
    git(checkout, "remote", "add", "origin", "https://host/group/main.git")
    add_submodule(git, checkout, "a", "https://host/a.git")
    add_submodule(git, checkout, "name of b", "../b.git", "libs/b b")
    add_submodule(git, checkout, "c", "https://host/c.git")
    git(checkout, "config", "submodule.c.url", "https://mirror/c.git")

    sources = {item.path: item for item in submodule_sources(checkout)}

    assert {path: item.url for path, item in sources.items()} == {
        "a": "https://host/a.git",
        "libs/b b": "https://host/group/b.git",
        "c": "https://mirror/c.git",
    }
    assert {item.commit for item in sources.values()} == {COMMIT}
    assert not any(item.is_checked_out or item.problem for item in sources.values())


def test_submodules_of_a_checked_out_one_are_found(with_submodule, git, tmp_path):
    root, commit = with_submodule({"a.cu": b""})
    add_submodule(git, root / "libs/knn", "glm", "https://host/glm.git")

    knn, glm = submodule_sources(root)

    assert (knn.path, knn.commit, knn.is_checked_out) == ("libs/knn", commit, True)
    assert (glm.path, glm.url, glm.is_checked_out) == ("libs/knn/glm", "https://host/glm.git", False)


segments = st.sampled_from(["a", "b.git", "group", "..", ".", "x y"])
bases = st.one_of(
    st.builds("https://host/{}".format, st.lists(segments, min_size=1, max_size=3).map("/".join)),
    st.builds("git@host:{}".format, st.lists(segments, min_size=1, max_size=3).map("/".join)),
    st.builds("ssh://git@host:22/{}/".format, st.lists(segments, min_size=1, max_size=3).map("/".join)),
    st.builds("/srv/{}".format, st.lists(segments, min_size=1, max_size=3).map("/".join)),
)
urls = st.builds(
    "{}{}".format,
    st.sampled_from(["./", "../", "../../", "./../", "https://other/", "/srv/", "git@other:", ""]),
    st.lists(segments, min_size=1, max_size=2).map("/".join),
)


@given(base=bases, url=urls)
def test_urls_are_resolved_as_git_does(tmp_path_factory, git, base, url):
    """`git submodule init` copies the resolved URL to the configuration."""
    root = tmp_path_factory.mktemp("checkout")
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", base)
    add_submodule(git, root, "m", url)
    try:
        ours = resolve_url(base, url)
    except ValueError:
        with pytest.raises(AssertionError, match="cannot strip one component"):
            git(root, "submodule", "init")
        return
    git(root, "submodule", "init")

    assert ours == git(root, "config", "submodule.m.url").removesuffix("\n")


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_url_is_resolved_or_refused(base, url):
    with contextlib.suppress(ValueError):
        assert resolve_url(base, url) is not None
