"""Machines as files below a folder, and snapshots of sound machines that tests change."""

from __future__ import annotations

import copy
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.snapshot import Snapshot


@pytest.fixture(scope="session")
def machines():
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("machines.py"))))


def changed(snapshot: Snapshot, changes: dict) -> Snapshot:
    """The snapshot with new values at dotted paths, validated again."""
    raw = copy.deepcopy(snapshot.model_dump(mode="json"))
    for path, value in changes.items():
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
        container = raw
        for part in parents:
            container = container[part]
        container[last] = value
    return Snapshot.model_validate(raw)


@pytest.fixture(scope="session")
def change():
    return changed


PYTHON = {
    "path": "/venv/bin/python", "version": "3.12", "torch": "2.9.1+rocm6.4", "hip": "6.4.43482", "cuda": "",
    "own_runtime": False,
    "distributions": [
        {"name": "torch", "version": "2.9.1+rocm6.4"}, {"name": "pytorch-triton-rocm", "version": "3.5.1"},
    ],
}  # fmt: skip


@pytest.fixture(scope="session")
def sound(machines, knowledge, tmp_path_factory):
    """Snapshots of machines without problems: two cards, eight MI300X, one APU, a container, WSL 2."""

    def read(build) -> Snapshot:
        root = tmp_path_factory.mktemp("machine")
        build(root)
        return machines.snapshot(root, knowledge)

    pair = read(lambda root: machines.pair(root, "iommu=pt", "identity"))
    first = pair.model_dump(mode="json")["gpus"][0]
    second = {
        **first, "pci": "0000:0d:00.0", "uuid": "GPU-1d10000000000002", "rocr_index": 1, "node": 2, "render_minor": 129
    }  # fmt: skip
    linux = changed(
        pair,
        {"gpus": [first, second], "python": PYTHON, "no_python": "", "processor.l3": [{"kib": 32768, "cpus": "0-31"}]},
    )
    apu = {**first, "gfx": "gfx1151", "integrated": True, "gtt_bytes": 60 << 30, "uuid": "", "vram_bytes": 1 << 29}
    instinct = changed(read(machines.mi300x), {"processor.numa_balancing": "0"})
    wsl = changed(read(machines.wsl2), {"python": PYTHON, "no_python": ""})
    return {
        "linux": linux,
        "container": changed(linux, {"container": "docker"}),
        "apu": changed(linux, {"gpus": [apu], "kernel": "6.18.10-200.fc43.x86_64"}),
        "instinct": instinct,
        "wsl": wsl,
    }


@pytest.fixture(scope="session")
def plan(knowledge):
    """A plan for the sound machine with two cards; by default it compiles two packages."""

    def make(gpu: str = "rx 7900 xtx", stack: str = "rocm-6.4-torch-2.9.1-py3.12-pip", **fields) -> Plan:
        gpu_record = knowledge.gpu(gpu)
        decisions = fields.pop("decisions", (("diff-gaussian-rasterization", "build"), ("flash-attn", "build")))
        return Plan(
            repository="splats", gpu=gpu_record, stack=None, base=knowledge.stacks[stack], rejected_stacks=(),
            decisions=tuple(
                DependencyDecision(name=name, package=name, decision=kind, route="x", reason="x")
                for name, kind in decisions
            ),
            edits=(), answered=(), left=(), readiness="ready", knowledge_date="2026-11-15", **fields,
        )  # fmt: skip

    return make
