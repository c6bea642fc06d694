from __future__ import annotations

import pytest

from rocm3d.model.run import ImportFallback, KernelTime, LoadedModule
from rocm3d.verify.runs.backends import backends

GSPLAT = LoadedModule(name="gsplat", file="/env/site-packages/gsplat/__init__.py", version="1.5.3")
MISSED = ImportFallback(module="gsplat", reason="ModuleNotFoundError", where="render.py:3")


@pytest.fixture
def told(ported, make_decision, knowledge, make_run):
    """The verdicts on gsplat with these decisions of the plan."""

    def tell(run, *decisions):
        plan = ported(decisions=decisions).plan
        return [item for item in backends(run, plan, knowledge) if "torch" not in "".join((item[1], *item[2][:1]))]

    return tell


@pytest.fixture
def built(make_decision):
    return make_decision("gsplat", "build", package="gsplat")


def test_a_library_of_another_package_shows_nothing(told, built, make_run):
    others = ("/env/site-packages/other/csrc.so", "/env/site-packages/gsplat_x/a.so")
    run = make_run(modules=(GSPLAT,), libraries=others)

    ((outcome, reason, _),) = told(run, built)

    assert (outcome, reason) == ("not_run", "gsplat was imported, but none of its libraries or kernels was used")


def test_a_planned_package_that_the_run_never_imported_is_not_shown(told, built, make_run):
    ((outcome, reason, _),) = told(make_run(), built)

    assert (outcome, reason) == ("not_run", "planned, but not imported in this run: gsplat")


def test_a_fallback_that_the_plan_does_not_mean_has_failed(told, built, make_run):
    ((outcome, reason, _),) = told(make_run(fallbacks=(MISSED,)), built)

    assert outcome == "failed"
    assert reason.startswith("unplanned fallback: import of gsplat failed at render.py:3")


def test_a_fallback_that_no_plan_speaks_of_has_failed_where_the_repository_asked(told, make_run):
    ((outcome, reason, _),) = told(make_run(fallbacks=(MISSED,)))

    assert outcome == "failed"
    assert "not in the plan" in reason


@pytest.mark.parametrize("where", ["/env/site-packages/nerfstudio/a.py:1", ".venv/lib/site-packages/nerfstudio/a.py:1"])
def test_what_a_library_tries_for_itself_is_not_judged(told, make_run, where):
    assert told(make_run(fallbacks=(MISSED.model_copy(update={"where": where}),))) == []


@pytest.mark.parametrize("kind", ["drop", "substitute", "stub"])
def test_a_planned_fallback_is_skipped(told, make_decision, make_run, kind):
    ((outcome, reason, _),) = told(make_run(fallbacks=(MISSED,)), make_decision("gsplat", kind, package="gsplat"))

    assert outcome == "skipped"
    assert reason.startswith("planned fallback: ")


def test_a_stand_in_is_skipped_where_it_is_planned_and_has_failed_otherwise(told, built, make_decision, make_run):
    run = make_run(modules=(GSPLAT.model_copy(update={"stands_in": "rocm3d-kernels 0.1"}),))

    ((planned, _, _),) = told(run, make_decision("gsplat", "substitute", package="gsplat"))
    ((unplanned, reason, _),) = told(run, built)

    assert (planned, unplanned) == ("skipped", "failed")
    assert "gsplat is a substitute: rocm3d-kernels 0.1" in reason


def test_its_kernels_show_it_at_work(told, built, make_run):
    name = "void gsplat::rasterize_to_pixels_3dgs_fwd_kernel<3u, float>"
    kernel = KernelTime(name=name, calls=1, microseconds=1.0, backend="gsplat", operation="raster")

    ((outcome, _, looked_at),) = told(make_run(modules=(GSPLAT,), kernels=(kernel,)), built)

    assert outcome == "passed"
    assert looked_at == ("gsplat 1.5.3 from /env/site-packages/gsplat/__init__.py", f"kernel {name}")


def test_without_a_profile_its_library_does(told, built, make_run):
    run = make_run(modules=(GSPLAT,), kernels=(), libraries=("/env/site-packages/gsplat/csrc.so",))

    ((outcome, _, looked_at),) = told(run, built)

    assert (outcome, looked_at[1:]) == ("passed", ("library /env/site-packages/gsplat/csrc.so",))


def test_torch_itself_is_shown_by_any_kernel_and_by_none_otherwise(ported, knowledge, make_run):
    def outcomes(run):
        return [outcome for outcome, _, _ in backends(run, ported().plan, knowledge)]

    assert outcomes(make_run()) == ["passed"]
    assert outcomes(make_run(kernels=(), backends={})) == ["not_run"]
