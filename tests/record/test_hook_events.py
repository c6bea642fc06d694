from __future__ import annotations

from pathlib import Path

from rocm3d.record import hook_events

ROOT = Path("/repo")


def status(pid=1, **more):
    return {"kind": "status", "pid": pid, "libraries": [], "attention": [], "loops": {}, "triton": [], **more}


def missed(name="flash_attn", file="/repo/model.py", line=3):
    return {"kind": "missed", "name": name, "reason": "not installed", "file": file, "line": line}


def module(name="gsplat", stands_in=""):
    return {"kind": "module", "name": name, "file": f"/env/{name}.py", "version": "1", "stands_in": stands_in}


def test_no_events_give_empty_results():
    assert (
        hook_events.loaded_modules([])
        == hook_events.import_fallbacks([], ROOT)
        == hook_events.loaded_libraries([])
        == hook_events.kernel_times([], ())
        == ()
    )
    assert hook_events.peak([], "allocated") is None
    assert hook_events.backends_by_operation((), ()) == {}


def test_module_that_was_loaded_later_is_not_a_fallback():
    assert hook_events.import_fallbacks([missed(), module("flash_attn")], ROOT) == ()


def test_import_by_torch_itself_is_not_a_fallback():
    assert (
        hook_events.import_fallbacks([missed(file="/env/lib/python3.12/site-packages/torch/_dynamo/utils.py")], ROOT)
        == ()
    )


def test_fallback_is_listed_once_per_line_of_code():
    lines = [missed(), missed(), missed(line=9), missed(file="/env/lib/site-packages/diffusers/a.py")]

    assert [fallback.where for fallback in hook_events.import_fallbacks(lines, ROOT)] == [
        "/env/lib/site-packages/diffusers/a.py:3", "model.py:3", "model.py:9",
    ]  # fmt: skip


def test_module_loaded_by_two_processes_is_listed_once():
    assert len(hook_events.loaded_modules([module(), module(), module(stands_in="ours")])) == 2


def test_libraries_of_the_system_are_left_out():
    lines = [status(libraries=["/lib/x86_64-linux-gnu/libc.so.6", "/env/lib_C.so"]), status(libraries=["/env/b.so"])]

    assert hook_events.loaded_libraries(lines) == ("/env/b.so", "/env/lib_C.so")


def test_last_status_of_each_process_is_used():
    call = {"way": "flash", "device": "cuda", "dtype": "float16"}
    lines = [
        status(1, attention=[{**call, "calls": 1}], allocated=5),
        status(1, attention=[{**call, "calls": 4}], allocated=7),
        status(2, attention=[{**call, "calls": 2}], allocated=6),
    ]

    assert [entry.calls for entry in hook_events.attention_calls(lines)] == [6]
    assert hook_events.peak(lines, "allocated") == 7


def test_windows_are_summed_and_sorted_by_time(knowledge):
    lines = [
        {"kind": "kernels", "kernels": {"who_knows": [1, 1.0], "rocm3d_scale": [2, 10.0]}},
        {"kind": "kernels", "kernels": {"rocm3d_scale": [1, 5.0]}},
    ]
    times = hook_events.kernel_times(lines, knowledge.backends.values())

    assert [(kernel.name, kernel.calls, kernel.microseconds, kernel.backend) for kernel in times] == [
        ("rocm3d_scale", 3, 15.0, "rocm3d kernel"),
        ("who_knows", 1, 1.0, "not known by name"),
    ]
    assert hook_events.backends_by_operation(times, ()) == {"other": ("rocm3d kernel", "not known by name")}


def test_a_kernel_that_triton_compiled_is_the_programs_own(knowledge):
    lines = [status(triton=["scale_rows"]), {"kind": "kernels", "kernels": {"scale_rows": [1, 1.0]}}]

    assert [kernel.backend for kernel in hook_events.kernel_times(lines, knowledge.backends.values())] == [
        "Triton kernel of the program"
    ]


def test_math_attention_is_listed_next_to_its_kernels(knowledge):
    lines = [{"kind": "kernels", "kernels": {"rocm3d_scale": [1, 1.0]}}]
    call = {"way": "math", "device": "cuda", "dtype": "float32", "calls": 1}
    backends = hook_events.backends_by_operation(
        hook_events.kernel_times(lines, knowledge.backends.values()),
        hook_events.attention_calls([status(attention=[call])]),
    )

    assert backends == {"attention": ("torch SDPA math (cuda)",), "other": ("rocm3d kernel",)}


def test_without_kernels_the_sdpa_backend_of_torch_is_used():
    call = {"way": "math", "device": "cpu", "dtype": "float32", "calls": 1}

    assert hook_events.backends_by_operation((), hook_events.attention_calls([status(attention=[call])])) == {
        "attention": ("torch SDPA math (cpu)",)
    }


def test_steps_are_those_of_the_rank_that_made_the_most():
    def loop(count):
        return {"optimizer": {"count": count, "first": 1.0, "steady": 0.5, "points": [1.0]}}

    (steps,) = hook_events.loop_steps([status(1, loops=loop(3)), status(2, loops=loop(5))])
    assert (steps.kind, steps.count, steps.steady_seconds) == ("optimizer", 5, 0.5)


def test_gpu_memory_is_summed_over_processes():
    lines = [status(2, held=5, at=103.0), status(1), status(1, held=10, at=101.0), status(1, held=20, at=104.5)]

    points = hook_events.gpu_memory_points(lines, 100.0)

    assert [(point.seconds, point.bytes) for point in points] == [(1.0, 10), (3.0, 15), (4.5, 25)]


def test_no_gpu_memory_points_without_a_gpu():
    assert hook_events.gpu_memory_points([status()], 0.0) == ()
