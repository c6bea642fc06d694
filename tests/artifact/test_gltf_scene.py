from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.artifact import gltf
from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TREES = st.dictionaries(st.sampled_from(["accessors", "extensionsUsed", "meshes", "images", "textures"]), JSON)


def never(*_):
    raise AssertionError("nobody may ask")


@pytest.mark.parametrize("view", [{"byteLength": 0}, {"byteLength": 9}, {"byteOffset": -2, "byteLength": 2}])
def test_bytes_that_are_incomplete(view):
    assert gltf.view_bytes({"bufferViews": [view]}, 0, b"abcd") is None


def test_the_bytes_of_a_view():
    assert gltf.view_bytes({"bufferViews": [{"byteOffset": 1, "byteLength": 2}]}, 0, b"abcd") == b"bc"


def test_without_meshes_nothing_is_read():
    assert gltf.inspect_tree({}, never, never).problems == ["empty: no meshes"]


@given(TREES)
def test_no_description_makes_it_fail_unexpectedly(tree):
    """Without meshes, any other content is refused or reported."""
    tree.pop("meshes", None)
    try:
        assert isinstance(gltf.inspect_tree(tree, never, never), ArtifactReport)
    except (InvalidArtifactError, UnreadableArtifactError) as error:
        assert str(error)  # noqa: PT017  (either of two ends is right)
