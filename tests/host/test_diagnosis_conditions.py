"""Every host record, on a machine that has the problem and on the same machine without it."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import pytest

from rocm3d.host.diagnosis import diagnose
from rocm3d.knowledge.load import load

GIB = 1 << 30


class Case(NamedTuple):
    """`spoilt` are the changes that cause the problem; `also` are changes to both machines."""

    base: str
    spoilt: dict
    also: dict = MappingProxyType({})
    planned: dict | None = None


DENIED = {"path": "/dev/kfd", "usable": False, "group": "render", "member": False, "mode": "crw-rw----"}
LENT = {**DENIED, "usable": True}
SOUND_KFD = {**DENIED, "usable": True, "member": True}
GFX1036 = {"pci": "0000:13:00.0", "node": 3, "gfx": "gfx1036", "rocr_index": 2, "integrated": True, "driver": "amdgpu"}
BARE = {"pci": "0000:03:00.0", "kfd": False, "driver": ""}
TORCH = "python.torch"


def cuda(version: str = "12.8") -> dict:
    return {"python.torch": "2.9.1+cu128", "python.hip": "", "python.cuda": version}


def extra(*names: str) -> dict:
    return {"python.distributions": [{"name": name, "version": "1.0"} for name in names]}


def variables(**values: str) -> dict:
    return {"variables": values}


CASES = {
    "amdgpu-not-bound": Case("linux", {"gpus": [{**BARE, "driver": "vfio-pci"}]}),
    "amdgpu-blocked-at-boot": Case("linux", {"boot": ["nomodeset"]}),
    "no-compute-node": Case("linux", {"gpus": [{**BARE, "driver": "amdgpu"}]}),
    "kfd-absent": Case("linux", {"devices": []}),
    "render-node-absent": Case("linux", {"gpus.1.render_minor": 140}),
    "no-access": Case("linux", {"devices.0": DENIED}),
    "no-access-in-container": Case("container", {"devices.0": DENIED}),
    "access-by-seat-alone": Case("linux", {"devices.0": LENT}, {"root": False}),
    "kernel-too-old": Case("apu", {"kernel": "6.17.0-8-generic"}),
    "iommu-not-passed-through": Case("linux", {"gpus.0.iommu": "DMA", "boot": []}),
    "integrated-gpu-beside": Case("linux", {"gpus.1": GFX1036}),
    "lane-widths-differ": Case("linux", {"gpus.1.width": 8}),
    "narrow-link": Case("linux", {"gpus.1.width": 4}),
    "behind-the-chipset": Case("linux", {"gpus.0.bridges.0.id": "1022:43f4"}),
    "no-atomics": Case("linux", {"gpus.0.atomics": False}),
    "small-bar": Case("linux", {"gpus.0.visible_bytes": 256 << 20}),
    "gpu-in-partitions": Case("instinct", {"gpus.0.compute_partition": "CPX"}),
    "clocks-held-low": Case("linux", {"gpus.0.performance_level": "low"}),
    "little-shared-memory": Case("apu", {"gpus.0.gtt_bytes": 31 * GIB}),
    "numa-balancing-on": Case("instinct", {"processor.numa_balancing": "1"}),
    "shm-too-small": Case("container", {"processor.shm_bytes": 64 << 20}),
    "memory-below-vram": Case("linux", {"processor.memory_bytes": 16 * GIB}),
    "memory-limit-below-vram": Case("container", {"processor.memory_limit": 8 * GIB}),
    "too-many-compilers": Case("linux", {"processor.memory_bytes": 32 * GIB}, {"processor.usable_cpus": 16}, {}),
    "miopen-cache-shut": Case("linux", {"caches.0.writable": False}),
    "kernel-cache-shut": Case("linux", {"caches.3.writable": False}),
    "cache-on-network-disk": Case("linux", {"caches.3.filesystem": "nfs4"}),
    "override-needless": Case("linux", variables(HSA_OVERRIDE_GFX_VERSION="11.0.0")),
    "override-of-another-family": Case("linux", variables(HSA_OVERRIDE_GFX_VERSION="10.3.0")),
    "override-for-unlike-gpus": Case("linux", variables(HSA_OVERRIDE_GFX_VERSION="11.0.0"), {"gpus.1": GFX1036}),
    "masks-together": Case("linux", variables(ROCR_VISIBLE_DEVICES="1", HIP_VISIBLE_DEVICES="1")),
    "mask-hides-every-gpu": Case("linux", variables(ROCR_VISIBLE_DEVICES="2")),
    "expandable-segments-corrupt": Case("linux", variables(PYTORCH_HIP_ALLOC_CONF="expandable_segments:True")),
    "expandable-segments-split": Case(
        "instinct", variables(PYTORCH_ALLOC_CONF="expandable_segments:True, max_split_size_mb:512")
    ),
    "allocator-named-twice": Case("linux", variables(PYTORCH_ALLOC_CONF="a:1", PYTORCH_CUDA_ALLOC_CONF="a:1")),
    "max-autotune-left-on": Case("linux", variables(TORCHINDUCTOR_MAX_AUTOTUNE="1")),
    "kernels-serialised": Case("linux", variables(AMD_SERIALIZE_KERNEL="3")),
    "hip-platform-nvidia": Case("linux", variables(HIP_PLATFORM="nvidia")),
    "cuda-home-leads-to-cuda": Case("linux", variables(CUDA_HOME="/usr/local/cuda-12.4")),
    "arch-list-lacks-gpu": Case("linux", variables(PYTORCH_ROCM_ARCH="gfx942;gfx90a")),
    "torch-for-cuda": Case("linux", cuda()),
    "torch-for-no-gpu": Case("linux", cuda("")),
    "cuda-packages-installed": Case("linux", extra("nvidia-cudnn-cu12")),
    "another-triton": Case("linux", extra("triton", "pytorch_triton_rocm")),
    "aiter-of-another-project": Case("linux", extra("aiter")),
    "torch-too-old-for-gpu": Case("apu", {TORCH: "2.9.1+rocm6.4"}, {TORCH: "2.10.0+rocm7.2", "python.hip": "7.2.1"}),
    "compiler-of-another-rocm": Case("linux", {"rocm.0.version": "7.2.0"}),
    "several-rocm": Case(
        "linux", {"rocm": [{"form": "system", "path": p, "version": "7.0"} for p in ("/opt/a", "/opt/b")]}
    ),
    "no-hip-compiler": Case("linux", {"rocm": []}, planned={}),
    "plan-for-another-gpu": Case("linux", {"gpus.0.gfx": "gfx1201", "gpus.1.gfx": "gfx1201"}, planned={}),
    "torch-is-not-the-planned-one": Case("linux", {TORCH: "2.8.0+rocm6.4"}, planned={}),
    "python-is-not-the-planned-one": Case("linux", {"python.version": "3.10"}, planned={}),
    "vram-below-need": Case(
        "linux", {"gpus.0.vram_bytes": 4 * GIB, "gpus.1.vram_bytes": 4 * GIB}, planned={"known_as": "hunyuan3d-2"}
    ),
    "wsl-1": Case("wsl", {"wsl": "1", "kernel": "4.4.0-19041-Microsoft"}),
    "wsl-without-dxg": Case("wsl", {"devices": []}),
    "wsl-torch-own-runtime": Case("wsl", {"python.own_runtime": True}),
    "pin-to-large-cache": Case(
        "linux", {"processor.l3": [{"kib": 98304, "cpus": "0-7,16-23"}, {"kib": 32768, "cpus": "8-15,24-31"}]}
    ),
    "cards-on-several-nodes": Case("linux", {"gpus.0.numa_node": 0, "gpus.1.numa_node": 1}),
    "data-loader": Case("linux", {"processor.usable_cpus": 32}, {"processor.usable_cpus": 0}),
}


def test_every_record_has_a_case():
    assert set(load().host) == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_record_is_reported_only_on_the_machine_with_the_problem(name, sound, change, plan, knowledge):
    case = CASES[name]
    planned = None if case.planned is None else plan(**case.planned)
    before = change(sound[case.base], case.also)

    without = diagnose(before, knowledge, planned)
    problems = {problem.id: problem for problem in diagnose(change(before, case.spoilt), knowledge, planned).problems}

    assert name in without.fine or (name == "data-loader" and name in {problem.id for problem in without.unread})
    assert name in problems
    assert all(problems[name].read)
    assert "{" not in "".join((*problems[name].remedy, problems[name].check)).replace("${", "")


@pytest.mark.parametrize("base", ["linux", "container", "apu", "instinct", "wsl"])
def test_sound_machines_have_no_fault(base, sound, knowledge):
    kind = {"torch-too-old-for-gpu"} if base == "apu" else set()

    assert {fault.id for fault in diagnose(sound[base], knowledge).faults} == kind
