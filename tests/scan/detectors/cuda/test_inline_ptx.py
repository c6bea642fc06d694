from __future__ import annotations

import pytest

RULE = "inline_ptx"
FOUND = '__device__ int lane() { int r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }\n'


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", FOUND) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_is_not_found_where_one_backend_compiles(places, guard):
    assert places(RULE, "a.cu", f"{guard}\n{FOUND}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_is_not_found_in_comments_and_strings(places, text):
    assert places(RULE, "a.cu", text.format(FOUND.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_odd_bytes_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\xfe\n" + FOUND.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        'static inline void relax() { asm volatile("pause" ::: "memory"); }\n',
        'void fence() { asm volatile("" ::: "memory"); }\n',
        'void tick() { __asm__("rdtsc" : "=a"(lo), "=d"(hi)); }\n',
        'void call() { asm(".byte 0x0f, 0x0b"); }\n',
        '__device__ void wait() { asm volatile("s_waitcnt lgkmcnt(0)"); }\n',
        '__device__ void mac() { asm volatile("\\n v_mac_f32 %0, %1, %2" : "+v"(c) : "v"(a), "v"(b)); }\n',
        '__device__ void none() { asm volatile("" ::: "memory"); }\n',
        "__device__ void asm_like() { assembly(1); }\n",
    ],
)
def test_other_assembly_is_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "instruction", "counterpart"),
    [
        (FOUND, "mov.u32 %laneid", "__lane_id()"),
        ('__device__ void f() { asm volatile("membar.gl;"); }\n', "membar.gl", "__threadfence()"),
        (
            '__device__ void f() { asm("{ .reg .pred p;" "setp.ne.b32 p, %0, 0; }" :: "r"(x)); }\n',
            "setp.ne.b32",
            "by hand",
        ),
        ('void f() { asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v)); }\n', "bfind.u32", "31 - __clz(x)"),
        ('__global__ void f() { asm("exit;"); }\n', "exit", "by hand"),
    ],
)
def test_instruction_and_counterpart(findings, text, instruction, counterpart):
    (found,) = findings(RULE, "a.cu", text)

    assert found.code == "CU401"
    assert found.message.startswith(f"inline PTX ({instruction}):")
    assert counterpart in found.hint


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(1, 32)]),
        ("\r\n" + FOUND, [(2, 32)]),
        ('#define LANE(r) \\\n  asm("mov.u32 %0, %laneid;" : "=r"(r))\n', [(2, 3)]),
        (FOUND + FOUND, [(1, 32), (2, 32)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.cuh", text) == where
