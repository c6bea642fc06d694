from __future__ import annotations

import pytest

from rocm3d.evidence.produced import produced
from rocm3d.model.artifact import Artifact


@pytest.fixture
def found(tmp_path, make_run):
    root = tmp_path / "repo"
    (root / "out").mkdir(parents=True)

    def run(most=1000, **sizes):
        artifacts = []
        for name, size in sizes.items():
            path = {"outside": "../outside.png", "absolute": str(tmp_path / "absolute.png")}.get(
                name, f"out/{name}.png"
            )
            (root / path).write_bytes(b"x" * size)
            artifacts.append(Artifact(path=path, kind="image", bytes=size, outcome="bad", problems=("black",)))
        return produced(make_run(artifacts=tuple(artifacts)), root, most)

    return run


def test_nothing_outside_of_the_folder(found):
    assert found(outside=3, absolute=3) == {}


def test_a_link_that_leads_out_is_left(found, tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "repo" / "out" / "a.png").symlink_to(tmp_path / "secret")

    assert found(a=1) == {}


def test_what_is_too_large_is_left_and_the_small_ones_are_kept(found):
    assert list(found(large=900, small=50, middle=200)) == ["files/out/small.png", "files/out/middle.png"]


def test_artifacts_are_kept_whether_fit_or_not(found):
    assert [place.read_bytes() for place in found(a=2).values()] == [b"xx"]
