from __future__ import annotations

import pytest

from rocm3d.model.bundle import AlteredFile
from rocm3d.model.evidence import SealedRun
from rocm3d.model.run import ExpectationResult, KernelTime, LoadedModule, Manifest, PeakMemory, Steps
from rocm3d.render.run_view import RunView, run_views, runs_summary, worst_tone


def view(make, **values) -> RunView:
    return RunView(make.joined(make.run(**values)))


def test_a_whole_chain_is_green(make):
    shown = view(make)

    assert (shown.tone, shown.sentence) == ("passed", "Finished in 128.4 s.")


@pytest.mark.parametrize(
    ("values", "tone", "sentence"),
    [
        ({"status": "timed_out", "reason": "it was not done"}, "failed", "Timed out after 128.4 s: it was not done."),
        (
            {"expectations": (ExpectationResult(expectation="a > 1", met=False, found="0"),)},
            "failed",
            "Finished in 128.4 s, but 1 of 1 expectations are not met.",
        ),
        (
            {"modules": (LoadedModule(name="knn", file="/k.py", stands_in="plain PyTorch"),)},
            "not_run",
            "Finished in 128.4 s; substitutes ran: knn.",
        ),
        ({"artifacts": ()}, "not_run", "Finished in 128.4 s; missing evidence: artifact."),
    ],
    ids=["timed out", "not met", "stand-in", "no artifact"],
)
def test_nothing_less_is(make, values, tone, sentence):
    shown = view(make, **values)

    assert (shown.tone, shown.sentence) == (tone, sentence)


def test_an_artifact_that_is_not_sound_is_no_success(make):
    shown = view(make, artifacts=(make.artifact(outcome="bad", problems=("all NaN",)), make.artifact("b.ply")))

    assert shown.tone == "failed"
    assert "1 of 2 artifacts are invalid" in shown.sentence
    assert [entry.item.outcome for entry in shown.artifacts] == ["bad", "ok"]


def test_an_altered_bundle_is_no_success(make):
    shown = RunView(make.joined(altered=(AlteredFile(path="run.json", how="changed"),)))

    assert (shown.tone, shown.sentence) == ("failed", "Changed since it was sealed: run.json.")


def test_facts_make_nothing_up(make):
    facts = dict(view(make, manifest=Manifest(machine="m"), command=("a b", "c")).facts)

    assert facts["Ran on"] == "no GPU, without torch"
    assert facts["Commit"] == "unknown: not a git repository"
    assert facts["Command"] == "'a b' c"
    assert "Driver" not in facts
    assert facts["Backend of attention"] == "AOTriton"
    assert "Backend of copy" not in facts


def test_uncommitted_files_are_named(make):
    facts = dict(view(make, manifest=Manifest(machine="m", commit="c" * 40, dirty=("a.py",))).facts)

    assert facts["Commit"] == f"{'c' * 40} with 1 uncommitted change: a.py"


def test_checkout_that_git_refuses_to_read_is_not_called_clean(make):
    facts = dict(view(make, manifest=Manifest(machine="m", commit="c" * 40)).facts)

    assert facts["Commit"] == f"{'c' * 40}; uncommitted changes unknown"


def test_without_kernels_no_bars_are_drawn(make):
    assert view(make, kernels=()).kernels == ""


def test_kernels_are_added_up_by_operation_and_backend(make):
    def kernel(name, backend, microseconds, operation="gemm"):
        return KernelTime(name=name, calls=2, microseconds=microseconds, backend=backend, operation=operation)

    result = [kernel("a", "Tensile", 600.0), kernel("b", "Tensile", 300.0), kernel("c", "not known by name", 100.0)]
    shown = view(make, kernels=tuple(result))

    assert "Kernel time by backend: gemm: Tensile, 900 \N{MICRO SIGN}s \N{MIDDLE DOT} 90%" in shown.kernels
    assert 'class="bar unknown"' in shown.kernels
    assert shown.busy.startswith("6 calls of 3 kernels: 0.001 s of GPU time in 0.5 s profiled, of 128 s")


def test_many_backends_end_in_one_bar(make):
    result = [
        KernelTime(name=str(n), calls=1, microseconds=20.0 - n, backend=f"b{n}", operation="x") for n in range(15)
    ]

    assert "3 others, 21 \N{MICRO SIGN}s" in view(make, kernels=tuple(result)).kernels


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1.0])
def test_odd_numbers_of_a_record_are_survived(make, odd):
    kernels = (KernelTime(name="k", calls=1, microseconds=odd, backend="b", operation="o"),)
    steps = (Steps(kind="s", count=3, first_seconds=odd, steady_seconds=odd, points=(odd, odd, odd)),)
    shown = view(make, kernels=kernels, steps=steps, memory=PeakMemory(host=-1))

    assert isinstance(shown.kernels + shown.memory + shown.steps[0][1], str)


def test_the_first_step_is_separate_and_not_a_point_of_the_plot(make):
    ((words, plot),) = view(make).steps

    assert words == "9 of the optimizer: first after 14 s, then 200 ms each"
    assert "first step 14 s (70 x median); median 200 ms; later steps: 3 points" in plot


def test_two_steps_have_no_plot(make):
    steps = (Steps(kind="s", count=2, first_seconds=1.0, steady_seconds=0.5, points=(1.0, 0.5)),)

    assert view(make, steps=steps).steps[0][1] == ""


def test_memory_of_the_gpu_is_shown_relative_to_the_total(make):
    drawn = view(make).memory

    assert "GPU, reserved, 14 GiB of 192 GiB" in drawn
    assert "Memory over time" in drawn
    assert view(make, memory=PeakMemory()).memory == ""


def test_runs_that_the_port_does_not_know_say_so(make):
    known = make.evidence().model_copy(
        update={"sealed_runs": (SealedRun(folder="old", outcome="finished", of_these_sources=False),)}
    )
    new, old = run_views((make.joined(folder="old"), make.joined(make.run("other"), folder="new")), known)

    assert (new.item.folder, old.item.folder) == ("new", "old")
    assert "no check covers it" in new.remark
    assert old.remark == "The code has changed since this run, so it does not count for the current code."
    assert (new.tone, old.tone) == ("not_run", "not_run")


def test_a_later_run_of_the_same_name_is_named(make):
    second, first = run_views((make.joined(), make.joined(folder="train-2")))

    assert (first.later, second.later) == ("train-2", "")


def test_the_worst_run_that_counts_speaks_for_all(make):
    failed = make.joined(make.run(status="failed", exit_code=1, reason="exit code 1"), folder="a")
    other = make.joined(make.run("other"), folder="b")
    again = make.joined(folder="c")

    assert worst_tone(()) == "not_run"
    assert worst_tone(run_views((failed, other))) == "failed"
    assert worst_tone(run_views((failed, other, again))) == "passed"
    assert runs_summary(run_views((failed, other))).startswith(
        "1 of 2 recorded runs ended as expected, 1 with a complete"
    )
