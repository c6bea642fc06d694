"""GPU names that survive a restart: PCI address to KFD node to ROCR index, and one mask per job."""

from __future__ import annotations

import pytest

from rocm3d.jobs.gpus import free_vram, hip_mask, rocr_mask, select_gpus, stable_name, total_vram
from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.topology import Topology, read_topology


@pytest.fixture
def topology(machine):
    return read_topology(machine())


@pytest.mark.parametrize("name", ["0", "1", "card0", "GPU-12", "03:00", "gfx1100", ""])
def test_unstable_gpu_name_is_refused(topology, name):
    with pytest.raises(UserError, match="neither a unique id nor a PCI address"):
        select_gpus([name], topology, {})


def test_missing_gpu_is_a_machine_error_that_lists_the_others(topology):
    with pytest.raises(MachineError, match=r"0000:99:00\.0 is not on this machine") as failure:
        select_gpus(["0000:99:00.0"], topology, {})
    assert "GPU-ab00000000000001" in failure.value.hint
    assert "0001:83:00.0" in failure.value.hint


def test_a_gpu_that_is_named_twice_is_refused(topology):
    with pytest.raises(UserError, match="listed twice"):
        select_gpus(["03:00.0", "GPU-ab00000000000001"], topology, {})


@pytest.mark.parametrize(
    ("name", "index", "masked"),
    [
        ("0000:03:00.0", 0, "GPU-ab00000000000001"),
        ("2D:00.0", 1, "GPU-ab00000000000002"),
        ("GPU-AB00000000000002", 1, "GPU-ab00000000000002"),
        ("0xab00000000000001", 0, "GPU-ab00000000000001"),
        ("0001:83:00.0", 3, "3"),
    ],
)
def test_an_address_or_id_becomes_the_index_of_rocr(topology, name, index, masked):
    (gpu,) = select_gpus([name], topology, {})
    assert gpu.rocr_index == index
    assert rocr_mask(gpu) == masked


def test_without_names_the_integrated_gpu_is_left_out(topology):
    assert [stable_name(gpu) for gpu in select_gpus(None, topology, {})] == [
        "GPU-ab00000000000001",
        "GPU-ab00000000000002",
        "0001:83:00.0",
    ]


@pytest.mark.parametrize(
    ("environment", "indices"),
    [
        ({"ROCR_VISIBLE_DEVICES": "1"}, [1]),
        ({"ROCR_VISIBLE_DEVICES": "GPU-ab00000000000002,3"}, [1, 3]),
        ({"HIP_VISIBLE_DEVICES": "0"}, [0]),
        ({"ROCR_VISIBLE_DEVICES": "1,3", "HIP_VISIBLE_DEVICES": "1"}, [3]),
        ({"ROCR_VISIBLE_DEVICES": ""}, [0, 1, 3]),
    ],
)
def test_masks_of_the_environment_are_respected(topology, environment, indices):
    assert [gpu.rocr_index for gpu in select_gpus(None, topology, environment)] == indices
    assert [gpu.rocr_index for gpu in select_gpus(["03:00.0"], topology, environment)] == [0]


def test_masks_become_one_for_hip(topology):
    assert hip_mask({"ROCR_VISIBLE_DEVICES": "GPU-ab00000000000002"}, topology) == "1"
    assert hip_mask({"ROCR_VISIBLE_DEVICES": "0"}, Topology()) == "0"


def test_free_memory_comes_from_the_driver(topology, machine, tmp_path):
    root, gpu = tmp_path / "machine", topology.gpus[0]
    assert free_vram(gpu, root) == (24 << 30) - (1 << 28)
    assert total_vram(gpu, root) == 24 << 30
    assert free_vram(gpu, tmp_path / "nowhere") is None
    (root / "sys/bus/pci/devices" / gpu.pci / "mem_info_vram_used").write_text("what\n")
    assert free_vram(gpu, root) is None
