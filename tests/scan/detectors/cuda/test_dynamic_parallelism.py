from __future__ import annotations

import pytest

RULE = "dynamic_parallelism"
SAMPLE = "__global__ void parent(int n) { child<<<n, 64>>>(n); }\n"


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
        "void launch(int n) { child<<<n, 64>>>(n); }\n",
        "__host__ __device__ void launch(int n) { child<<<n, 64>>>(n); }\n",
        "__global__ void parent(int n) { child(n); }\n",
        "void host() { auto go = [&] { child<<<1, 64>>>(); }; go(); }\n",
    ],
)
def test_no_finding_for_a_launch_from_the_host(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "kernel", "expected"),
    [
        (SAMPLE, "child", (1, 33)),
        ("__device__ void f() {\n  child<float><<<1, 64>>>();\n}\n", "child", (2, 3)),
        ("__global__ void f() { child << <1, 64>> >(); }\n", "child", (1, 23)),
        ("__global__ void f() { child<<<1, 64, 0, cudaStreamTailLaunch>>>(); }\n", "child", (1, 23)),
        ("auto stream = cudaStreamFireAndForget;\n", "a kernel on cudaStreamFireAndForget", (1, 15)),
    ],
)
def test_position_and_message(findings, text, kernel, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column) == expected
    assert finding.message == f"{kernel} is launched from device code; HIP has no dynamic parallelism"
