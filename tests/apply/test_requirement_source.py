from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.requirement_source import GitCheckout, find_decision, is_cuda_build, local_path, parse_git_checkout
from rocm3d.manifest.manifest import Mention


def mention(name: str, url: str = "", version: str = "", text: str = "") -> Mention:
    return Mention(name, text or url or name, 1, 1, 1, version=version, url=url)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "torch",
        "https://host/x.git",
        "git@github.com:a/b.git",
        "git+ext::sh -c touch% pwned",
        "git+https://${TOKEN}@host/x.git",
        "git+https://host/x.git@-uevil",
        "git+https://host/x.git#subdirectory=../out",
        "git+https://host/x.git#subdirectory=/out",
        "git+https://host/x y.git",
        "hg+https://host/x",
    ],
)
def test_other_urls_are_left_to_pip(address):
    assert parse_git_checkout(address) is None


@pytest.mark.parametrize(
    ("address", "result"),
    [
        ("git+https://host/a/b.git", GitCheckout("https://host/a/b.git")),
        ("git+https://host/a/b/", GitCheckout("https://host/a/b/")),
        ("git+https://host/a/b.git@v1#egg=b", GitCheckout("https://host/a/b.git", "v1")),
        ("git+https://host/b@refs/pull/957/head", GitCheckout("https://host/b", "refs/pull/957/head")),
        ("git+ssh://git@host/a/b.git@c0ffee", GitCheckout("ssh://git@host/a/b.git", "c0ffee")),
        ("git+ssh://git@host/a/b.git", GitCheckout("ssh://git@host/a/b.git")),
        ("git+file:///a/b", GitCheckout("file:///a/b")),
        (
            "git+https://host/b.git#egg=x&subdirectory=bindings/torch",
            GitCheckout("https://host/b.git", "", "bindings/torch"),
        ),
        ("git+https://host/b.git#subdirectory=.", GitCheckout("https://host/b.git")),
    ],
)
def test_a_repository_has_its_address_revision_and_folder(address, result):
    assert parse_git_checkout(address) == result


@given(st.text(max_size=40))
def test_any_address_is_read_or_left(text):
    for address in (text, f"git+https://{text}", f"git+https://host/x@{text}"):
        result = parse_git_checkout(address)
        assert result is None or (not result.revision.startswith("-") and "/" not in result.clone_folder)


def test_another_revision_is_another_clone():
    first, two = GitCheckout("https://host/b.git", "v1"), GitCheckout("https://host/b.git", "refs/pull/1/head")
    assert (first.name, two.name) == ("b", "b")
    assert (first.clone_folder, two.clone_folder) == ("b-v1", "b-refs-pull-1-head")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        (".", "."),
        ("./libs/x", "libs/x"),
        ("libs/x/", "libs/x"),
        ("./libs/x[all]", "libs/x"),
        ("file:./libs/x", "libs/x"),
        ("/tmp/x", "/tmp/x"),
        ("", None),
        ("file:///tmp/x", None),
        ("https://host/x", None),
        ("git+https://host/x", None),
        ("./wheels/x-1-py3-none-any.whl", None),
        ("$HOME/x", None),
    ],
)
def test_local_folders(address, path):
    assert local_path(address) == path


@pytest.mark.parametrize(
    "arguments", [("", "==2.1+cu118"), ("https://host/whl/cu121/x-1%2Bcu121-cp310.whl", ""), ("", "==1+pt21cu118")]
)
def test_cuda_builds_by_version_or_url(arguments):
    assert is_cuda_build(mention("x", arguments[0], arguments[1]))


@pytest.mark.parametrize(
    "arguments", [("", "==2.1"), ("", "==2.1+rocm6.4"), ("https://host/cupid/x-1.whl", ""), ("", "==2.1+cpu")]
)
def test_other_builds_are_no_cuda_builds(arguments):
    assert not is_cuda_build(mention("x", arguments[0], arguments[1]))


def test_bindings_for_torch_are_not_torch(make_decision):
    decisions = {name: make_decision(name) for name in ("torch", "tiny-cuda-nn", "simple-knn")}
    url = "git+https://host/tiny-cuda-nn/#subdirectory=bindings/torch"
    assert find_decision(mention("torch", url), decisions).name == "tiny-cuda-nn"
    assert find_decision(mention("other", "./submodules/simple_knn/src"), decisions).name == "simple-knn"
    assert find_decision(mention("torch", "https://host/cu118/torch-2.1.whl"), decisions).name == "torch"


def test_a_decision_with_a_package_wins(make_decision):
    decisions = {"copy": make_decision("copy", "keep", package=None), "simple-knn": make_decision("simple-knn")}
    assert find_decision(mention("copy", "./simple-knn/copy"), decisions).name == "simple-knn"
    assert find_decision(mention("copy"), decisions).name == "copy"
    assert find_decision(mention("unknown"), decisions) is None
