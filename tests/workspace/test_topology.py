"""PCI address, unique id and ROCR index of each GPU, for any file content."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.workspace.topology import NODES, PCI_DEVICES, IoLink, Topology, read_properties, read_topology

CPU = "cpu_cores_count 32\nsimd_count 0\n"
GPU = (
    "cpu_cores_count 0\nsimd_count 192\ngfx_target_version 110000\nlocation_id 768\ndomain 0\n"
    "drm_render_minor 128\nunique_id 2094117133338746881\n"
)


def write(root: Path, number: object, text: str, **below: str) -> Path:
    folder = root / NODES / str(number)
    folder.mkdir(parents=True)
    (folder / "properties").write_text(text)
    for name, content in below.items():
        path = folder / name.replace("__", "/") / "properties"
        path.parent.mkdir(parents=True)
        path.write_text(content)
    return folder


def attributes(root: Path, pci: str, *names: str) -> None:
    for name in names:
        path = root / PCI_DEVICES / pci / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("0\n")


def test_machine_without_the_driver_has_no_gpu(tmp_path):
    assert read_topology(tmp_path) == Topology()


def test_processors_and_what_is_no_node_are_no_gpus(tmp_path):
    write(tmp_path, 0, CPU)
    write(tmp_path, "stray", GPU)
    write(tmp_path, 1, "")

    assert read_topology(tmp_path).gpus == ()


def test_node_that_may_not_be_read_is_not_counted(tmp_path):
    """In a container the kernel hides other GPUs this way, and ROCR skips them too."""
    write(tmp_path, 0, CPU)
    (write(tmp_path, 1, GPU) / "properties").unlink()
    write(tmp_path, 2, GPU)

    (gpu,) = read_topology(tmp_path).gpus

    assert (gpu.node, gpu.rocr_index) == (2, 0)


def test_a_gpu_is_read_whole(tmp_path):
    banks = {
        "mem_banks__0": "heap_type 1\nsize_in_bytes 25753026560\nflags 0\n",
        "mem_banks__1": "heap_type 0\nsize_in_bytes 7\n",
    }
    links = {"io_links__0": "type 2\nnode_from 1\nnode_to 0\nflags 1\nmax_bandwidth 32000\n"}
    write(tmp_path, 0, CPU)
    write(tmp_path, 1, GPU, **banks, **links)

    (gpu,) = read_topology(tmp_path).gpus

    assert (gpu.node, gpu.gfx, gpu.pci, gpu.render_minor, gpu.rocr_index) == (1, "gfx1100", "0000:03:00.0", 128, 0)
    assert (gpu.uuid, gpu.render_minor) == ("GPU-1d0fcc700ab72001", 128)
    assert (gpu.vram_bytes, gpu.integrated, gpu.simd_count) == (25753026560, False, 192)
    assert gpu.links == (IoLink(to=0, pcie=True, atomics=True, max_bandwidth=32000),)


@pytest.mark.parametrize(("flags", "atomics"), [(1, True), (3, True), (1 | 4, False), (1 | 8, False), (1 | 12, False)])
def test_atomics_are_a_flag_of_the_link(tmp_path, flags, atomics):
    write(tmp_path, 1, GPU, io_links__0=f"type 2\nnode_to 0\nflags {flags}\n")

    assert read_topology(tmp_path).gpus[0].links[0].atomics is atomics


@pytest.mark.parametrize(
    ("location", "domain", "pci"),
    [
        (768, 0, "0000:03:00.0"),
        (0xC500, 1, "0001:c5:00.0"),
        (0x1301, 0, "0000:13:00.1"),
        ((0xE5 << 8) | (0x1F << 3) | 7, 65536, "10000:e5:1f.7"),
    ],
)
def test_location_becomes_an_address(tmp_path, location, domain, pci):
    write(tmp_path, 1, f"simd_count 4\ngfx_target_version 90402\nlocation_id {location}\ndomain {domain}\n")

    assert read_topology(tmp_path).gpus[0].pci == pci


def test_index_of_rocr_is_the_place_among_gpus_in_order_of_numbers(tmp_path):
    for number in (10, 2, 3):
        write(tmp_path, number, GPU.replace("768", str(number << 8)))
    write(tmp_path, 0, CPU)

    result = read_topology(tmp_path)

    assert [(gpu.node, gpu.rocr_index, gpu.pci) for gpu in result.gpus] == [
        (2, 0, "0000:02:00.0"), (3, 1, "0000:03:00.0"), (10, 2, "0000:0a:00.0"),
    ]  # fmt: skip
    assert result.gpu_at("0000:0A:00.0") == result.gpu_at("0a:00.0") == result.gpus[2]
    assert result.gpu_at("0000:0b:00.0") is None


def test_unique_id_finds_its_gpu_and_zero_finds_none(tmp_path):
    write(tmp_path, 1, GPU)
    write(tmp_path, 2, GPU.replace("2094117133338746881", "0"))
    result = read_topology(tmp_path)

    assert result.gpu_with_id(2094117133338746881) == result.gpus[0]
    assert result.gpu_with_id(0) is None
    assert result.gpus[1].uuid == ""


def test_old_kernel_that_names_no_gfx_still_counts(tmp_path):
    write(tmp_path, 1, "simd_count 256\nlocation_id 768\n")
    write(tmp_path, 2, GPU)

    assert [(gpu.gfx, gpu.rocr_index) for gpu in read_topology(tmp_path).gpus] == [("", 0), ("gfx1100", 1)]


@pytest.mark.parametrize(
    ("text", "names", "known", "integrated"),
    [
        (GPU.replace("cpu_cores_count 0", "cpu_cores_count 8"), (), (), True),
        (GPU, (), ("gfx1100",), True),
        (GPU.replace("2094117133338746881", "0"), ("gpu_busy_percent",), (), True),
        (GPU, ("gpu_busy_percent",), (), False),
        (GPU.replace("2094117133338746881", "0"), ("gpu_busy_percent", "mem_busy_percent"), (), False),
        (GPU.replace("2094117133338746881", "0"), (), (), False),
    ],
    ids=["one node with the processor", "known target", "no memory counter", "old card", "card without id", "not told"],
)
def test_part_of_the_processor(tmp_path, text, names, known, integrated):
    write(tmp_path, 1, text)
    attributes(tmp_path, "0000:03:00.0", *names)

    assert read_topology(tmp_path, frozenset(known)).gpus[0].integrated is integrated


@given(st.binary(max_size=400))
def test_any_file_is_parsed_to_integers(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("p") / "properties"
    path.write_bytes(data)

    assert all(isinstance(value, int) and value >= 0 for value in read_properties(path).values())
