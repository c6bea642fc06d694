"""GPUs from KFD files, including invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.host.kfd import gpus

CPU = "cpu_cores_count 32\nsimd_count 0\ngfx_target_version 0\n"


def node(topology: Path, name: str, properties: str | bytes) -> None:
    (topology / name).mkdir(parents=True)
    content = properties if isinstance(properties, bytes) else properties.encode()
    (topology / name / "properties").write_bytes(content)


def gpu(version: int) -> str:
    return f"cpu_cores_count 0\nsimd_count 304\ngfx_target_version {version}\nvendor_id 4098\n"


def test_machine_without_the_driver_has_none(tmp_path):
    assert gpus(tmp_path / "nowhere") == []


def test_file_in_the_place_of_the_topology_is_none(tmp_path):
    (tmp_path / "nodes").write_text("x")
    assert gpus(tmp_path / "nodes") == []


def test_topology_without_nodes_is_none(tmp_path):
    assert gpus(tmp_path) == []


def test_processor_alone_is_no_gpu(tmp_path):
    node(tmp_path, "0", CPU)
    assert gpus(tmp_path) == []


def test_node_without_properties_is_no_gpu(tmp_path):
    (tmp_path / "0").mkdir()
    (tmp_path / "stray").write_text("x")
    node(tmp_path, "1", "")
    assert gpus(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    ["gfx_target_version", "gfx_target_version x", "gfx_target_version -1", "gfx_target_version 90402 7",
     "gfx_target_version 0x16122", "GFX_TARGET_VERSION 90402"],
)  # fmt: skip
def test_invalid_line_is_not_a_gpu(tmp_path, line):
    node(tmp_path, "0", line + "\n")
    assert gpus(tmp_path) == []


def test_garbage_around_the_line_is_ignored(tmp_path):
    node(tmp_path, "0", b"\xff\xfe\x00 1\n\n   \none\na b c\nsize \xb2\n" + gpu(90402).encode() + b"last")
    assert gpus(tmp_path) == ["gfx942"]


@pytest.mark.parametrize(
    ("version", "gfx"),
    [(90402, "gfx942"), (110000, "gfx1100"), (90010, "gfx90a"), (110501, "gfx1151"), (90012, "gfx90c"),
     (90500, "gfx950"), (100300, "gfx1030"), (120001, "gfx1201"), (80003, "gfx803")],
)  # fmt: skip
def test_version_becomes_a_gfx_id(tmp_path, version, gfx):
    node(tmp_path, "0", CPU)
    node(tmp_path, "1", gpu(version))
    assert gpus(tmp_path) == [gfx]


def test_nodes_are_in_the_order_of_their_numbers(tmp_path):
    for name, version in (("10", 110000), ("2", 90402), ("1", 90010), ("0", 0)):
        node(tmp_path, name, gpu(version))
    assert gpus(tmp_path) == ["gfx90a", "gfx942", "gfx1100"]


def test_every_gpu_is_counted(tmp_path):
    for name in ("0", "1", "2"):
        node(tmp_path, name, gpu(90402))
    assert gpus(tmp_path) == ["gfx942"] * 3


def test_discrete_card_comes_before_the_integrated_gpu(tmp_path):
    node(tmp_path, "1", gpu(110000))
    node(tmp_path, "2", gpu(100306))
    assert gpus(tmp_path, frozenset({"gfx1036"})) == ["gfx1100"]


def test_integrated_gpu_alone_is_listed(tmp_path):
    node(tmp_path, "1", gpu(110501))
    assert gpus(tmp_path, frozenset({"gfx1151"})) == ["gfx1151"]
