"""Snapshots of three machines read from files, and private data that a snapshot must not contain."""

from __future__ import annotations

import json

import pytest

from rocm3d.host.diagnosis import diagnose
from rocm3d.model.snapshot import Snapshot


@pytest.fixture
def read(machines, knowledge, tmp_path):
    def run(build, **options) -> Snapshot:
        build(tmp_path)
        return machines.snapshot(tmp_path, knowledge, **options)

    return run


def problems(snapshot, knowledge, severity):
    return {problem.id for problem in diagnose(snapshot, knowledge).problems if problem.severity == severity}


def test_empty_root_gives_an_empty_snapshot(read, knowledge):
    snapshot = read(lambda root: None)

    assert (snapshot.gpus, snapshot.devices, snapshot.rocm, snapshot.kernel, snapshot.has_gpu) == (
        (),
        (),
        (),
        "",
        False,
    )
    assert diagnose(snapshot, knowledge).lacks == "no AMD GPU on this machine"


def test_nvidia_gpu_is_mentioned(read, knowledge):
    snapshot = read(lambda root: (root / "sys/module/nvidia").mkdir(parents=True))

    assert diagnose(snapshot, knowledge).lacks == "no AMD GPU on this machine; there is an NVIDIA GPU"


def test_eight_mi300x(read, machines, knowledge):
    snapshot = read(machines.mi300x)
    last = snapshot.gpus[-1]

    assert len(snapshot.gpus) == 8
    assert {(gpu.gfx, gpu.width, gpu.atomics, gpu.iommu, gpu.integrated) for gpu in snapshot.gpus} == {
        ("gfx942", 16, True, "identity", False)
    }
    assert (last.rocr_index, last.pci, last.uuid) == (7, "0000:e5:00.0", "GPU-a0b0c0d000000007")
    assert (last.numa_node, last.cpus, last.vram_bytes) == (1, "96-191", 192 << 30)
    assert (snapshot.processor.cpus, snapshot.processor.numa_nodes, len(snapshot.processor.l3)) == (192, 2, 24)
    assert problems(snapshot, knowledge, "error") | problems(snapshot, knowledge, "warning") == set()
    assert problems(snapshot, knowledge, "note") == {"numa-balancing-on", "cards-on-several-nodes", "data-loader"}


def test_two_cards_and_an_integrated_gpu(read, machines, knowledge):
    snapshot = read(machines.pair)
    first, second, inside = snapshot.gpus

    assert [(gpu.gfx, gpu.width, gpu.integrated) for gpu in snapshot.gpus] == [
        ("gfx1100", 16, False), ("gfx1100", 4, False), ("gfx1036", 16, True),
    ]  # fmt: skip
    assert (first.max_width, second.max_width, inside.rocr_index) == (16, 16, 2)
    assert "1022:43f4" in {bridge.id for bridge in second.bridges}
    assert [(group.kib, group.cpus) for group in snapshot.processor.l3] == [(98304, "0-7,16-23"), (32768, "8-15,24-31")]
    assert problems(snapshot, knowledge, "error") == set()
    assert problems(snapshot, knowledge, "warning") == {
        "behind-the-chipset", "integrated-gpu-beside", "iommu-not-passed-through", "lane-widths-differ", "narrow-link",
    }  # fmt: skip
    assert problems(snapshot, knowledge, "note") == {"pin-to-large-cache", "data-loader"}


def test_remedies_for_the_pair(read, machines, knowledge):
    remedies = {problem.id: problem.remedy for problem in diagnose(read(machines.pair), knowledge).problems}

    assert (
        remedies["integrated-gpu-beside"][0] == "export ROCR_VISIBLE_DEVICES=GPU-1d10000000000001,GPU-1d10000000000002"
    )
    assert remedies["pin-to-large-cache"][0] == "taskset -c 0-7,16-23 COMMAND"
    assert "num_workers=8, pin_memory=True" in remedies["data-loader"][0]
    assert "14.4 GiB" in remedies["data-loader"][1]


def test_wsl2(read, machines, knowledge):
    snapshot = read(machines.wsl2)
    diagnosis = diagnose(snapshot, knowledge)

    assert (snapshot.wsl, snapshot.has_gpu, snapshot.gpus) == ("2", True, ())
    assert diagnosis.gpus == ("a GPU behind /dev/dxg (model unknown inside WSL)",)
    assert diagnosis.faults == ()
    assert "kfd-absent" in diagnosis.elsewhere
    assert {"memory-below-vram", "torch-for-cuda"} <= {condition.id for condition in diagnosis.unread}


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
    snapshot = read(machines.mi300x)

    assert Snapshot.from_json(snapshot.to_json(), "it") == snapshot


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


def test_card_without_a_driver_is_listed(read, machines, knowledge):
    def build(root):
        machines.system(root, "6.14.0", "x", "nomodeset", 1 << 35, "0-7")
        machines.pci(root, "0000:00:01.1", "0000:03:00.0", vendor="0x1002", device="0x744c", **{"class": "0x030000"})

    snapshot = read(build)

    assert [(gpu.pci, gpu.kfd, gpu.driver) for gpu in snapshot.gpus] == [("0000:03:00.0", False, "")]
    assert problems(snapshot, knowledge, "error") == {"amdgpu-not-bound", "amdgpu-blocked-at-boot"}


def test_gpus_outside_the_container_are_not_a_problem(read, machines, knowledge):
    """In a container or batch job with one of the cards, the kernel refuses to read the other node's file."""

    def build(root):
        machines.pair(root, "iommu=pt", "identity")
        hidden = root / "sys/class/kfd/kfd/topology/nodes/2/properties"
        hidden.unlink()
        hidden.mkdir()

    snapshot = read(build)

    assert [(gpu.pci, gpu.rocr_index) for gpu in snapshot.gpus] == [("0000:03:00.0", 0), ("0000:13:00.0", 1)]
    assert "no-compute-node" not in problems(snapshot, knowledge, "error")


def test_snapshot_changes_no_file(read, machines, tmp_path):
    machines.pair(tmp_path)

    def state():
        return {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}

    before = state()
    read(lambda root: None)

    assert state() == before
