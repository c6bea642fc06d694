from __future__ import annotations

import pytest

RULE = "inline_ptx"
SAMPLE = '__device__ int lane() { int r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }\n'


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", SAMPLE) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_no_finding_in_code_of_one_backend(positions, guard):
    assert positions(RULE, "a.cu", f"{guard}\n{SAMPLE}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_no_finding_in_comments_and_strings(positions, text):
    assert positions(RULE, "a.cu", text.format(SAMPLE.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")


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
def test_no_finding_for_other_assembly(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "instruction", "counterpart"),
    [
        (SAMPLE, "mov.u32 %laneid", "__lane_id()"),
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
    (finding,) = findings(RULE, "a.cu", text)

    assert finding.code == "CU401"
    assert finding.message.startswith(f"inline PTX ({instruction}):")
    assert counterpart in finding.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 32)]),
        ("\r\n" + SAMPLE, [(2, 32)]),
        ('#define LANE(r) \\\n  asm("mov.u32 %0, %laneid;" : "=r"(r))\n', [(2, 3)]),
        (SAMPLE + SAMPLE, [(1, 32), (2, 32)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected
