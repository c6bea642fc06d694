from __future__ import annotations

from pathlib import Path

from rocm3d.record import told

ROOT = Path("/repo")


def status(pid=1, **more):
    return {"kind": "status", "pid": pid, "libraries": [], "attention": [], "loops": {}, "triton": [], **more}


def missed(name="flash_attn", file="/repo/model.py", line=3):
    return {"kind": "missed", "name": name, "reason": "not installed", "file": file, "line": line}


def module(name="gsplat", stands_in=""):
    return {"kind": "module", "name": name, "file": f"/env/{name}.py", "version": "1", "stands_in": stands_in}


def test_nothing_told_is_nothing_seen():
    assert told.modules([]) == told.fallbacks([], ROOT) == told.libraries([]) == told.kernels([], ()) == ()
    assert told.most([], "allocated") is None
    assert told.by_operation((), ()) == {}


def test_a_module_that_was_found_after_all_is_no_fallback():
    assert told.fallbacks([missed(), module("flash_attn")], ROOT) == ()


def test_what_torch_asks_for_itself_is_no_fallback():
    assert told.fallbacks([missed(file="/env/lib/python3.12/site-packages/torch/_dynamo/utils.py")], ROOT) == ()


def test_a_fallback_is_told_once_for_each_place():
    lines = [missed(), missed(), missed(line=9), missed(file="/env/lib/site-packages/diffusers/a.py")]

    assert [item.where for item in told.fallbacks(lines, ROOT)] == [
        "/env/lib/site-packages/diffusers/a.py:3", "model.py:3", "model.py:9",
    ]  # fmt: skip


def test_the_same_module_of_two_processes_is_one():
    assert len(told.modules([module(), module(), module(stands_in="ours")])) == 2


def test_libraries_of_the_system_are_left_out():
    lines = [status(libraries=["/lib/x86_64-linux-gnu/libc.so.6", "/env/lib_C.so"]), status(libraries=["/env/b.so"])]

    assert told.libraries(lines) == ("/env/b.so", "/env/lib_C.so")


def test_the_last_state_of_each_process_counts():
    way = {"way": "flash", "device": "cuda", "dtype": "float16"}
    lines = [
        status(1, attention=[{**way, "calls": 1}], allocated=5),
        status(1, attention=[{**way, "calls": 4}], allocated=7),
        status(2, attention=[{**way, "calls": 2}], allocated=6),
    ]

    assert [item.calls for item in told.attention(lines)] == [6]
    assert told.most(lines, "allocated") == 7


def test_windows_are_added_up_and_the_most_time_comes_first(knowledge):
    lines = [
        {"kind": "kernels", "kernels": {"who_knows": [1, 1.0], "rocm3d_scale": [2, 10.0]}},
        {"kind": "kernels", "kernels": {"rocm3d_scale": [1, 5.0]}},
    ]
    found = told.kernels(lines, knowledge.backends.values())

    assert [(item.name, item.calls, item.microseconds, item.backend) for item in found] == [
        ("rocm3d_scale", 3, 15.0, "rocm3d kernel"),
        ("who_knows", 1, 1.0, "not known by name"),
    ]
    assert told.by_operation(found, ()) == {"other": ("rocm3d kernel", "not known by name")}


def test_a_kernel_that_triton_compiled_is_the_programs_own(knowledge):
    lines = [status(triton=["scale_rows"]), {"kind": "kernels", "kernels": {"scale_rows": [1, 1.0]}}]

    assert [item.backend for item in told.kernels(lines, knowledge.backends.values())] == [
        "Triton kernel of the program"
    ]


def test_the_math_way_is_seen_beside_the_kernels_it_is_made_of(knowledge):
    lines = [{"kind": "kernels", "kernels": {"rocm3d_scale": [1, 1.0]}}]
    way = {"way": "math", "device": "cuda", "dtype": "float32", "calls": 1}
    found = told.by_operation(
        told.kernels(lines, knowledge.backends.values()), told.attention([status(attention=[way])])
    )

    assert found == {"attention": ("torch SDPA math (cuda)",), "other": ("rocm3d kernel",)}


def test_without_kernels_torchs_word_about_attention_counts():
    way = {"way": "math", "device": "cpu", "dtype": "float32", "calls": 1}

    assert told.by_operation((), told.attention([status(attention=[way])])) == {"attention": ("torch SDPA math (cpu)",)}


def test_steps_are_those_of_the_rank_that_made_the_most():
    def loop(count):
        return {"optimizer": {"count": count, "first": 1.0, "steady": 0.5, "points": [1.0]}}

    (steps,) = told.steps([status(1, loops=loop(3)), status(2, loops=loop(5))])
    assert (steps.kind, steps.count, steps.steady_seconds) == ("optimizer", 5, 0.5)


def test_memory_of_the_gpu_is_that_of_all_processes_at_each_time():
    lines = [status(2, held=5, at=103.0), status(1), status(1, held=10, at=101.0), status(1, held=20, at=104.5)]

    points = told.gpu_memory(lines, 100.0)

    assert [(point.seconds, point.bytes) for point in points] == [(1.0, 10), (3.0, 15), (4.5, 25)]


def test_without_a_gpu_there_are_no_points_of_its_memory():
    assert told.gpu_memory([status()], 0.0) == ()
