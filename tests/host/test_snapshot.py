"""Snapshots of three machines read from files, and private data that a snapshot must not contain."""

from __future__ import annotations

import json

import pytest

from rocm3d.host.diagnosis import diagnose
from rocm3d.model.snapshot import Snapshot


@pytest.fixture
def read(machines, knowledge, tmp_path):
    def run(build, **given) -> Snapshot:
        build(tmp_path)
        return machines.snapshot(tmp_path, knowledge, **given)

    return run


def problems(snapshot, knowledge, severity):
    return {item.id for item in diagnose(snapshot, knowledge).problems if item.severity == severity}


def test_an_empty_root_is_a_machine_of_which_nothing_is_known(read, knowledge):
    found = read(lambda root: None)

    assert (found.gpus, found.devices, found.rocm, found.kernel, found.has_gpu) == ((), (), (), "", False)
    assert diagnose(found, knowledge).lacks == "no AMD GPU on this machine"


def test_nvidia_alone_is_said(read, knowledge):
    found = read(lambda root: (root / "sys/module/nvidia").mkdir(parents=True))

    assert diagnose(found, knowledge).lacks == "no AMD GPU on this machine; there is an NVIDIA GPU"


def test_eight_mi300x(read, machines, knowledge):
    found = read(machines.mi300x)
    last = found.gpus[-1]

    assert len(found.gpus) == 8
    assert {(gpu.gfx, gpu.width, gpu.atomics, gpu.iommu, gpu.integrated) for gpu in found.gpus} == {
        ("gfx942", 16, True, "identity", False)
    }
    assert (last.rocr_index, last.pci, last.uuid) == (7, "0000:e5:00.0", "GPU-a0b0c0d000000007")
    assert (last.numa_node, last.cpus, last.vram_bytes) == (1, "96-191", 192 << 30)
    assert (found.processor.cpus, found.processor.numa_nodes, len(found.processor.l3)) == (192, 2, 24)
    assert problems(found, knowledge, "error") | problems(found, knowledge, "warning") == set()
    assert problems(found, knowledge, "note") == {"numa-balancing-on", "cards-on-several-nodes", "data-loader"}


def test_two_cards_with_the_gpu_of_the_processor(read, machines, knowledge):
    found = read(machines.pair)
    first, second, inside = found.gpus

    assert [(gpu.gfx, gpu.width, gpu.integrated) for gpu in found.gpus] == [
        ("gfx1100", 16, False), ("gfx1100", 4, False), ("gfx1036", 16, True),
    ]  # fmt: skip
    assert (first.max_width, second.max_width, inside.rocr_index) == (16, 16, 2)
    assert "1022:43f4" in {bridge.id for bridge in second.bridges}
    assert [(group.kib, group.cpus) for group in found.processor.l3] == [(98304, "0-7,16-23"), (32768, "8-15,24-31")]
    assert problems(found, knowledge, "error") == set()
    assert problems(found, knowledge, "warning") == {
        "behind-the-chipset", "integrated-gpu-beside", "iommu-not-passed-through", "lane-widths-differ", "narrow-link",
    }  # fmt: skip
    assert problems(found, knowledge, "note") == {"pin-to-large-cache", "data-loader"}


def test_what_to_do_about_the_pair_is_exact(read, machines, knowledge):
    done = {item.id: item.remedy for item in diagnose(read(machines.pair), knowledge).problems}

    assert done["integrated-gpu-beside"][0] == "export ROCR_VISIBLE_DEVICES=GPU-1d10000000000001,GPU-1d10000000000002"
    assert done["pin-to-large-cache"][0] == "taskset -c 0-7,16-23 COMMAND"
    assert "num_workers=8, pin_memory=True" in done["data-loader"][0]
    assert "14.4 GiB" in done["data-loader"][1]


def test_wsl2(read, machines, knowledge):
    found = read(machines.wsl2)
    seen = diagnose(found, knowledge)

    assert (found.wsl, found.has_gpu, found.gpus) == ("2", True, ())
    assert seen.gpus == ("a GPU behind /dev/dxg (model unknown inside WSL)",)
    assert seen.faults == ()
    assert "kfd-absent" in seen.elsewhere
    assert {"memory-below-vram", "torch-for-cuda"} <= {item.id for item in seen.unread}


def test_nvidia_under_wsl_is_no_amd_gpu(read, machines, knowledge, tmp_path):
    machines.put(tmp_path, "usr/lib/wsl/lib/libnvidia-ml.so.1", "")

    assert diagnose(read(machines.wsl2), knowledge).lacks != ""


def test_secrets_names_and_unrelated_variables_stay_out(read, machines):
    environment = {
        "HIP_VISIBLE_DEVICES": "0", "HF_TOKEN": "hf_abcdefghijklmnopqrst", "LOGNAME": "someone", "SHELL": "/bin/zsh",
        "TRITON_CACHE_DIR": "/home/someone/cache", "LD_LIBRARY_PATH": "/home/someone/lib:/opt/rocm/lib",
    }  # fmt: skip
    text = read(machines.pair, environment=environment).to_json()

    assert "someone" not in text
    assert "hf_abc" not in text
    assert "UUID=1234" not in text
    assert set(json.loads(text)["variables"]) == {
        "HIP_VISIBLE_DEVICES",
        "HF_TOKEN",
        "TRITON_CACHE_DIR",
        "LD_LIBRARY_PATH",
    }


def test_a_snapshot_reads_back_as_itself(read, machines):
    found = read(machines.mi300x)

    assert Snapshot.from_json(found.to_json(), "it") == found


@pytest.mark.parametrize(
    ("kernel", "wsl"),
    [
        ("6.8.0-45-generic", ""),
        ("4.4.0-19041-Microsoft", "1"),
        ("5.15.167.4-microsoft-standard-WSL2", "2"),
        ("6.6.36-Microsoft-custom", "2"),
    ],
)
def test_wsl_by_the_kernels_name(read, machines, kernel, wsl):
    def build(root):
        machines.wsl2(root)
        machines.put(root, "proc/sys/kernel/osrelease", kernel)

    assert read(build).wsl == wsl


def test_container_by_its_marks(read, machines, tmp_path):
    machines.put(tmp_path, "run/.containerenv", "")

    assert read(machines.pair).container == "podman"


def test_card_without_a_driver_is_listed_apart(read, machines, knowledge):
    def build(root):
        machines.system(root, "6.14.0", "x", "nomodeset", 1 << 35, "0-7")
        machines.pci(root, "0000:00:01.1", "0000:03:00.0", vendor="0x1002", device="0x744c", **{"class": "0x030000"})

    found = read(build)

    assert [(gpu.pci, gpu.kfd, gpu.driver) for gpu in found.gpus] == [("0000:03:00.0", False, "")]
    assert problems(found, knowledge, "error") == {"amdgpu-not-bound", "amdgpu-blocked-at-boot"}


def test_gpus_that_were_not_given_to_this_process_are_no_fault(read, machines, knowledge):
    """In a container or batch job with one of the cards, the kernel refuses to read the other node's file."""

    def build(root):
        machines.pair(root, "iommu=pt", "identity")
        hidden = root / "sys/class/kfd/kfd/topology/nodes/2/properties"
        hidden.unlink()
        hidden.mkdir()

    found = read(build)

    assert [(gpu.pci, gpu.rocr_index) for gpu in found.gpus] == [("0000:03:00.0", 0), ("0000:13:00.0", 1)]
    assert "no-compute-node" not in problems(found, knowledge, "error")


def test_nothing_is_changed_by_looking(read, machines, tmp_path):
    machines.pair(tmp_path)

    def state():
        return {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}

    before = state()
    read(lambda root: None)

    assert state() == before
