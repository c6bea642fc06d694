from __future__ import annotations

import pytest

from rocm3d.model.run import ImportFallback, KernelTime, LoadedModule
from rocm3d.verify.runs.verdicts import backend_verdicts

GSPLAT = LoadedModule(name="gsplat", file="/env/site-packages/gsplat/__init__.py", version="1.5.3")
MISSED = ImportFallback(module="gsplat", reason="ModuleNotFoundError", where="render.py:3")


@pytest.fixture
def verdicts_on_gsplat(ported, make_decision, knowledge, make_run):
    """The verdicts on gsplat with these decisions of the plan."""

    def make_verdicts(run, *decisions):
        plan = ported(decisions=decisions).plan
        return [
            item for item in backend_verdicts(run, plan, knowledge) if "torch" not in "".join((item[1], *item[2][:1]))
        ]

    return make_verdicts


@pytest.fixture
def build_decision(make_decision):
    return make_decision("gsplat", "build", package="gsplat")


def test_a_library_of_another_package_is_no_evidence(verdicts_on_gsplat, build_decision, make_run):
    others = ("/env/site-packages/other/csrc.so", "/env/site-packages/gsplat_x/a.so")
    run = make_run(modules=(GSPLAT,), libraries=others)

    ((outcome, reason, _),) = verdicts_on_gsplat(run, build_decision)

    assert (outcome, reason) == ("not_run", "gsplat was imported, but none of its libraries or kernels was used")


def test_a_planned_package_that_was_not_imported_is_not_run(verdicts_on_gsplat, build_decision, make_run):
    ((outcome, reason, _),) = verdicts_on_gsplat(make_run(), build_decision)

    assert (outcome, reason) == ("not_run", "planned, but not imported in this run: gsplat")


def test_an_unplanned_fallback_fails(verdicts_on_gsplat, build_decision, make_run):
    ((outcome, reason, _),) = verdicts_on_gsplat(make_run(fallbacks=(MISSED,)), build_decision)

    assert outcome == "failed"
    assert reason.startswith("unplanned fallback: import of gsplat failed at render.py:3")


def test_a_failed_import_of_an_unplanned_package_fails(verdicts_on_gsplat, make_run):
    ((outcome, reason, _),) = verdicts_on_gsplat(make_run(fallbacks=(MISSED,)))

    assert outcome == "failed"
    assert "not in the plan" in reason


@pytest.mark.parametrize("where", ["/env/site-packages/nerfstudio/a.py:1", ".venv/lib/site-packages/nerfstudio/a.py:1"])
def test_optional_imports_of_libraries_are_ignored(verdicts_on_gsplat, make_run, where):
    assert verdicts_on_gsplat(make_run(fallbacks=(MISSED.model_copy(update={"where": where}),))) == []


@pytest.mark.parametrize("kind", ["drop", "substitute", "stub"])
def test_a_planned_fallback_is_skipped(verdicts_on_gsplat, make_decision, make_run, kind):
    ((outcome, reason, _),) = verdicts_on_gsplat(
        make_run(fallbacks=(MISSED,)), make_decision("gsplat", kind, package="gsplat")
    )

    assert outcome == "skipped"
    assert reason.startswith("planned fallback: ")


def test_a_substitute_is_skipped_if_planned_and_fails_otherwise(
    verdicts_on_gsplat, build_decision, make_decision, make_run
):
    run = make_run(modules=(GSPLAT.model_copy(update={"stands_in": "rocm3d-kernels 0.1"}),))

    ((planned, _, _),) = verdicts_on_gsplat(run, make_decision("gsplat", "substitute", package="gsplat"))
    ((unplanned, reason, _),) = verdicts_on_gsplat(run, build_decision)

    assert (planned, unplanned) == ("skipped", "failed")
    assert "gsplat is a substitute: rocm3d-kernels 0.1" in reason


def test_its_kernels_are_evidence_of_use(verdicts_on_gsplat, build_decision, make_run):
    name = "void gsplat::rasterize_to_pixels_3dgs_fwd_kernel<3u, float>"
    kernel = KernelTime(name=name, calls=1, microseconds=1.0, backend="gsplat", operation="raster")

    ((outcome, _, checked),) = verdicts_on_gsplat(make_run(modules=(GSPLAT,), kernels=(kernel,)), build_decision)

    assert outcome == "passed"
    assert checked == ("gsplat 1.5.3 from /env/site-packages/gsplat/__init__.py", f"kernel {name}")


def test_without_a_profile_its_library_is_evidence_of_use(verdicts_on_gsplat, build_decision, make_run):
    run = make_run(modules=(GSPLAT,), kernels=(), libraries=("/env/site-packages/gsplat/csrc.so",))

    ((outcome, _, checked),) = verdicts_on_gsplat(run, build_decision)

    assert (outcome, checked[1:]) == ("passed", ("library /env/site-packages/gsplat/csrc.so",))


def test_any_kernel_is_evidence_of_torch(ported, knowledge, make_run):
    def outcomes(run):
        return [outcome for outcome, _, _ in backend_verdicts(run, ported().plan, knowledge)]

    assert outcomes(make_run()) == ["passed"]
    assert outcomes(make_run(kernels=(), backends={})) == ["not_run"]
