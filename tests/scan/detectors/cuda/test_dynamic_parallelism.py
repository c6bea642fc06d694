from __future__ import annotations

import pytest

RULE = "dynamic_parallelism"
FOUND = "__global__ void parent(int n) { child<<<n, 64>>>(n); }\n"


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
        "void launch(int n) { child<<<n, 64>>>(n); }\n",
        "__host__ __device__ void launch(int n) { child<<<n, 64>>>(n); }\n",
        "__global__ void parent(int n) { child(n); }\n",
        "void host() { auto go = [&] { child<<<1, 64>>>(); }; go(); }\n",
    ],
)
def test_launch_from_the_host_is_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "kernel", "where"),
    [
        (FOUND, "child", (1, 33)),
        ("__device__ void f() {\n  child<float><<<1, 64>>>();\n}\n", "child", (2, 3)),
        ("__global__ void f() { child << <1, 64>> >(); }\n", "child", (1, 23)),
        ("__global__ void f() { child<<<1, 64, 0, cudaStreamTailLaunch>>>(); }\n", "child", (1, 23)),
        ("auto stream = cudaStreamFireAndForget;\n", "a kernel on cudaStreamFireAndForget", (1, 15)),
    ],
)
def test_found(findings, text, kernel, where):
    (found,) = findings(RULE, "a.cu", text)

    assert (found.line, found.column) == where
    assert found.message == f"{kernel} is launched from device code; HIP has no dynamic parallelism"
