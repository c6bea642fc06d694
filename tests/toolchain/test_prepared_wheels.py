from __future__ import annotations

import zipfile

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import WheelContent, WheelPart
from rocm3d.toolchain.prepared import fetch, unpack


@pytest.fixture
def wheel(tmp_path):
    def make(**members: str):
        path = tmp_path / "part-1-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        return path

    return make


def test_a_wheel_without_the_required_files_is_refused(wheel, tmp_path):
    with pytest.raises(MachineError, match="has none of the required files"):
        unpack(wheel(**{"other/x.h": "x"}), (WheelContent(prefix="hip/", to="include/"),), tmp_path / "root")


@pytest.mark.parametrize("name", ["hip/../../escaped.h", "/hip/escaped.h", "hip/a/../../../escaped.h"])
def test_no_member_leads_out_of_the_target(wheel, tmp_path, name):
    unpack(
        wheel(**{name: "x", "hip/good.h": "x"}),
        (WheelContent(prefix="hip/", to="include/"), WheelContent(prefix="/hip/", to="i/")),
        tmp_path / "root",
    )

    assert [path.name for path in tmp_path.rglob("*.h")] == ["good.h"]


def test_parts_go_to_their_places_and_later_ones_over_earlier(wheel, tmp_path):
    root = tmp_path / "root"
    (root / "include").mkdir(parents=True)
    (root / "include" / "a.h").write_text("old")
    takes = (WheelContent(prefix="hip/", to="include/"), WheelContent(prefix="lib/x.bc", to="bitcode/y.bc"))

    count = unpack(wheel(**{"hip/a.h": "new", "hip/deep/b.h": "b", "lib/x.bc": "c", "lib/z.bc": "d"}), takes, root)

    assert count == 3
    assert (root / "include" / "a.h").read_text() == "new"
    assert (root / "include" / "deep" / "b.h").read_text() == "b"
    assert (root / "bitcode" / "y.bc").read_text() == "c"
    assert not list(root.rglob("z.bc"))


def test_missing_only_leaves_existing_files(wheel, tmp_path):
    root = tmp_path / "root"
    (root / "include").mkdir(parents=True)
    (root / "include" / "a.h").write_text("old")

    unpack(
        wheel(**{"hip/a.h": "new", "hip/b.h": "b"}),
        (WheelContent(prefix="hip/", to="include/", missing_only=True),),
        root,
    )

    assert (root / "include" / "a.h").read_text() == "old"
    assert (root / "include" / "b.h").read_text() == "b"


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_a_failed_download_is_one_line(tmp_path, monkeypatch, digest):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    part = WheelPart(
        distribution="rocm3d-nobody",
        version="1",
        sha256=digest,
        megabytes=1,
        takes=(WheelContent(prefix="a", to="b"),),
        why="test",
    )

    with pytest.raises(MachineError, match="cannot download rocm3d-nobody 1"):
        fetch(part, tmp_path)


def test_another_digest_is_refused(wheel, tmp_path, monkeypatch):
    path = tmp_path / "links" / "rocm3d_part-1-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rocm3d_part-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: rocm3d-part\nVersion: 1\n")
        archive.writestr(
            "rocm3d_part-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    part = WheelPart(
        distribution="rocm3d-part",
        version="1",
        sha256="0" * 64,
        megabytes=1,
        takes=(WheelContent(prefix="a", to="b"),),
        why="test",
    )

    with pytest.raises(MachineError, match="cannot download rocm3d-part 1"):
        fetch(part, tmp_path / "one")
    assert fetch(part.model_copy(update={"sha256": ""}), tmp_path / "two").name == path.name
