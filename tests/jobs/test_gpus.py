"""GPU names that survive a restart: PCI address to KFD node to ROCR index, and one mask per job."""

from __future__ import annotations

import pytest

from rocm3d.jobs.gpus import as_hip, called, chosen, free_vram, mask, total_vram
from rocm3d.model.failure import MachineError, UserError
from rocm3d.workspace.topology import Topology, read_topology


@pytest.fixture
def topology(machine):
    return read_topology(machine())


@pytest.mark.parametrize("name", ["0", "1", "card0", "GPU-12", "03:00", "gfx1100", ""])
def test_a_name_that_may_mean_another_gpu_tomorrow_is_refused(topology, name):
    with pytest.raises(UserError, match="neither a unique id nor a PCI address"):
        chosen([name], topology, {})


def test_a_gpu_that_is_not_here_is_what_the_machine_lacks_and_the_others_are_named(topology):
    with pytest.raises(MachineError, match=r"0000:99:00\.0 is not on this machine") as failure:
        chosen(["0000:99:00.0"], topology, {})
    assert "GPU-ab00000000000001" in failure.value.hint
    assert "0001:83:00.0" in failure.value.hint


def test_a_gpu_that_is_named_twice_is_refused(topology):
    with pytest.raises(UserError, match="listed twice"):
        chosen(["03:00.0", "GPU-ab00000000000001"], topology, {})


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
    (gpu,) = chosen([name], topology, {})
    assert gpu.rocr_index == index
    assert mask(gpu) == masked


def test_without_names_the_gpu_of_the_processor_is_left_out(topology):
    assert [called(gpu) for gpu in chosen(None, topology, {})] == [
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
def test_masks_that_were_set_for_us_are_kept_to(topology, environment, indices):
    assert [gpu.rocr_index for gpu in chosen(None, topology, environment)] == indices
    assert [gpu.rocr_index for gpu in chosen(["03:00.0"], topology, environment)] == [0]


def test_masks_become_one_for_hip(topology):
    assert as_hip({"ROCR_VISIBLE_DEVICES": "GPU-ab00000000000002"}, topology) == "1"
    assert as_hip({"ROCR_VISIBLE_DEVICES": "0"}, Topology()) == "0"


def test_free_memory_is_what_the_driver_says(topology, machine, tmp_path):
    root, gpu = tmp_path / "machine", topology.gpus[0]
    assert free_vram(gpu, root) == (24 << 30) - (1 << 28)
    assert total_vram(gpu, root) == 24 << 30
    assert free_vram(gpu, tmp_path / "nowhere") is None
    (root / "sys/bus/pci/devices" / gpu.pci / "mem_info_vram_used").write_text("what\n")
    assert free_vram(gpu, root) is None
