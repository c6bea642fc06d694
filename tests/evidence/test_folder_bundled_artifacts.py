from __future__ import annotations

import pytest

from rocm3d.evidence.folder import bundled_artifacts
from rocm3d.model.artifact import Artifact


@pytest.fixture
def bundled(tmp_path, make_run):
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
        return bundled_artifacts(make_run(artifacts=tuple(artifacts)), root, most)

    return run


def test_nothing_outside_of_the_folder(bundled):
    assert bundled(outside=3, absolute=3) == {}


def test_a_link_that_leads_out_is_left(bundled, tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "repo" / "out" / "a.png").symlink_to(tmp_path / "secret")

    assert bundled(a=1) == {}


def test_what_is_too_large_is_left_and_the_small_ones_are_included(bundled):
    assert list(bundled(large=900, small=50, middle=200)) == ["files/out/small.png", "files/out/middle.png"]


def test_artifacts_are_included_valid_or_not(bundled):
    assert [path.read_bytes() for path in bundled(a=2).values()] == [b"xx"]
