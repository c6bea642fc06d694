from __future__ import annotations

import zipfile

from rocm3d.verify.resolution.session import base_of, write_stub_wheels


def test_a_stack_read_from_a_machine_has_only_torch(knowledge, stack):
    bare = stack.model_copy(update={"provides": {}})

    assert base_of(bare, knowledge, "linux").versions == {"torch": "2.6.0+rocm6.4.3"}


def test_versions_carry_the_rocm_release(knowledge, stack):
    base = base_of(stack, knowledge, "linux")

    assert base.pins[0] == "torch==2.6.0+rocm6.4.3"
    assert set(base.versions) == {"torch", "torchvision", "torchaudio", "pytorch-triton-rocm"}
    assert base.packages == {"torch", "torchvision", "torchaudio", "triton"}
    assert "torchvision 0.21.0+rocm6.4.3" in base.description


def test_stub_wheels_hold_only_metadata(knowledge, stack, tmp_path):
    base = base_of(stack, knowledge, "linux")
    write_stub_wheels(base, tmp_path / "base")
    write_stub_wheels(base, tmp_path / "base")

    names = sorted(path.name for path in (tmp_path / "base").iterdir())
    assert "pytorch_triton_rocm-3.2.0+rocm6.4.3-py3-none-any.whl" in names
    assert len(names) == 4
    for path in (tmp_path / "base").iterdir():
        with zipfile.ZipFile(path) as wheel:
            assert all(".dist-info/" in name for name in wheel.namelist())


def test_every_stack_of_the_knowledge_base_names_its_torch(knowledge):
    for stack in knowledge.stacks.values():
        assert stack.provides.get("torch") == stack.torch, stack.id
