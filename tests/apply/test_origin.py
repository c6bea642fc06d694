from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.origin import Checkout, checkout, decided, is_cuda_build, local_path
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
def test_what_is_not_plainly_a_repository_is_left_to_pip(address):
    assert checkout(address) is None


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("git+https://host/a/b.git", Checkout("https://host/a/b.git")),
        ("git+https://host/a/b/", Checkout("https://host/a/b/")),
        ("git+https://host/a/b.git@v1#egg=b", Checkout("https://host/a/b.git", "v1")),
        ("git+https://host/b@refs/pull/957/head", Checkout("https://host/b", "refs/pull/957/head")),
        ("git+ssh://git@host/a/b.git@c0ffee", Checkout("ssh://git@host/a/b.git", "c0ffee")),
        ("git+ssh://git@host/a/b.git", Checkout("ssh://git@host/a/b.git")),
        ("git+file:///a/b", Checkout("file:///a/b")),
        (
            "git+https://host/b.git#egg=x&subdirectory=bindings/torch",
            Checkout("https://host/b.git", "", "bindings/torch"),
        ),
        ("git+https://host/b.git#subdirectory=.", Checkout("https://host/b.git")),
    ],
)
def test_a_repository_has_its_address_revision_and_folder(address, found):
    assert checkout(address) == found


@given(st.text(max_size=40))
def test_any_address_is_read_or_left(text):
    for address in (text, f"git+https://{text}", f"git+https://host/x@{text}"):
        found = checkout(address)
        assert found is None or (not found.revision.startswith("-") and "/" not in found.place)


def test_another_revision_is_another_clone():
    one, two = Checkout("https://host/b.git", "v1"), Checkout("https://host/b.git", "refs/pull/1/head")
    assert (one.name, two.name) == ("b", "b")
    assert (one.place, two.place) == ("b-v1", "b-refs-pull-1-head")


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
def test_a_folder_is_told_from_everything_else(address, path):
    assert local_path(address) == path


@pytest.mark.parametrize(
    "given", [("", "==2.1+cu118"), ("https://host/whl/cu121/x-1%2Bcu121-cp310.whl", ""), ("", "==1+pt21cu118")]
)
def test_a_cuda_build_is_told_by_version_or_address(given):
    assert is_cuda_build(mention("x", given[0], given[1]))


@pytest.mark.parametrize(
    "given", [("", "==2.1"), ("", "==2.1+rocm6.4"), ("https://host/cupid/x-1.whl", ""), ("", "==2.1+cpu")]
)
def test_other_builds_are_no_cuda_builds(given):
    assert not is_cuda_build(mention("x", given[0], given[1]))


def test_bindings_for_torch_are_not_torch(make_decision):
    decisions = {name: make_decision(name) for name in ("torch", "tiny-cuda-nn", "simple-knn")}
    url = "git+https://host/tiny-cuda-nn/#subdirectory=bindings/torch"
    assert decided(mention("torch", url), decisions).name == "tiny-cuda-nn"
    assert decided(mention("other", "./submodules/simple_knn/src"), decisions).name == "simple-knn"
    assert decided(mention("torch", "https://host/cu118/torch-2.1.whl"), decisions).name == "torch"


def test_a_record_counts_more_than_a_kept_name(make_decision):
    decisions = {"copy": make_decision("copy", "keep", package=None), "simple-knn": make_decision("simple-knn")}
    assert decided(mention("copy", "./simple-knn/copy"), decisions).name == "simple-knn"
    assert decided(mention("copy"), decisions).name == "copy"
    assert decided(mention("unknown"), decisions) is None
