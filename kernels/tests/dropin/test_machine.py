from __future__ import annotations

import pytest

from rocm3d_kernels.dropin import machine


@pytest.fixture
def topology(tmp_path, monkeypatch):
    """A machine with a CPU and one GPU in sysfs."""
    monkeypatch.setattr(machine, "TOPOLOGY", tmp_path / "nodes")
    monkeypatch.setattr(machine, "DRIVERS", (tmp_path / "version",))
    for name, version in (("0", 0), ("1", 90402)):
        (tmp_path / "nodes" / name).mkdir(parents=True)
        (tmp_path / "nodes" / name / "properties").write_text(f"cpu_cores_count 0\ngfx_target_version {version}\n")
    (tmp_path / "version").write_text("6.10.5\n")
    return tmp_path


def test_stamp_names_the_installation_the_driver_and_the_gpus(topology):
    lines = machine.stamp().splitlines()

    for name in ("rocm3d-kernels", "python", "torch", "triton", "kernel", "driver"):
        assert any(line.startswith(f"{name} ") for line in lines)
    assert "gfx 90402" in lines
    assert "gfx 0" not in lines
    assert "driver 6.10.5" in lines


@pytest.mark.parametrize(
    "change",
    [
        lambda path, patch: (path / "nodes" / "1" / "properties").write_text("gfx_target_version 110000\n"),
        lambda path, patch: (path / "version").write_text("6.12.0\n"),
        lambda path, patch: patch.setenv("HIP_VISIBLE_DEVICES", "1"),
        lambda path, patch: patch.setattr(machine.rocm3d_kernels, "__version__", "9.9"),
        lambda path, patch: patch.setattr(machine.platform, "release", lambda: "9.9"),
        lambda path, patch: patch.setattr(machine.os, "access", lambda *_: True),
    ],
    ids=["gfx", "driver", "devices", "version", "kernel", "access"],
)
def test_stamp_changes_with_what_the_result_depends_on(topology, monkeypatch, change):
    before = machine.stamp()
    change(topology, monkeypatch)

    assert machine.stamp() != before


def test_another_triton_changes_the_stamp(tmp_path, monkeypatch):
    before = machine.stamp()
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    assert machine.stamp() != before


def test_unreadable_topology_is_no_gpu(topology):
    (topology / "nodes" / "2").write_text("no folder")
    (topology / "nodes" / "1" / "properties").write_bytes(b"gfx_target_version\n\xff\xfe gfx_target_version 1 2\n")

    assert "gfx" not in [line.split()[0] for line in machine.stamp().splitlines() if line]
