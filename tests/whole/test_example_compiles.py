"""examples/deform-op fails to compile for AMD targets before the port, with known errors, and compiles after it."""

from __future__ import annotations

import pytest

from rocm3d.repository import Repository
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.verify.compilation.verdicts import VerdictContext, report_verdicts
from rocm3d.verify.probes.compile_extensions import probe
from rocm3d.workspace.tree import Tree

WAVES = {"gfx942": 64, "gfx1100": 32}


@pytest.fixture
def compiled(tmp_path, knowledge, kit):
    """Compiles the device sources; with torch's headers the rest takes half a minute."""

    def run(root):
        scan = Repository(root, knowledge, work=tmp_path / "work").scan()
        request = CompileRequest(
            Tree.open(root), scan.inventory.extensions, tuple(WAVES), knowledge, scan.findings,
            only=lambda path: path.endswith(".cu"),
        )  # fmt: skip
        report = compile_repository(request, kit)
        verdicts = report_verdicts(report, VerdictContext(probe, kit, knowledge.codes))
        return report, [(item.target, item.outcome) for item in verdicts]

    return run


def test_unported_example_fails_for_the_known_reasons(example, compiled):
    report, outcomes = compiled(example("deform-op"))

    assert outcomes == [(name, "failed") for name in ("", *WAVES, "host")]
    assert (report.scripts[0].problem.path, report.scripts[0].problem.code) == ("setup.py", "BLD201")
    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"failed"}
    places = {(item.path, item.line, item.code) for item in unit.problems}
    assert places == {("src/sample_kernel.cu", 2, "CU201"), ("src/sample_kernel.cu", 38, "CU101")}


def test_ported_example_compiles_for_both_wave_sizes(example, rocm3d, tmp_path, compiled):
    ported = tmp_path / "ported"
    ended = rocm3d("apply", example("deform-op"), "--gpu", "mi300x", "--into", ported)
    assert ended.code == 0, ended.err

    report, outcomes = compiled(ported)

    assert outcomes == [(name, "passed") for name in ("", *WAVES, "host")]
    (unit,) = report.units
    for gfx, wave in WAVES.items():
        kernels = unit.sides[gfx].kernels
        assert {kernel.wave_size for kernel in kernels} == {wave}
        assert len(kernels) == 4
        assert not any(kernel.empty for kernel in kernels)


@pytest.mark.full
def test_the_whole_port_passes_the_level_compile(example, rocm3d, tmp_path, kits, monkeypatch):
    ported = tmp_path / "ported"
    rocm3d("apply", example("deform-op"), "--gpu", "mi300x", "--into", ported)
    monkeypatch.setenv("ROCM3D_CACHE", str(kits[1].roots[0].parents[1]))

    ended = rocm3d("verify", ported, "--level", "compile", "--target", ",".join(WAVES))

    assert ended.code == 0, ended.out
    assert "src/binding.cpp (deform_op._ext): host: compiled" in ended.out
