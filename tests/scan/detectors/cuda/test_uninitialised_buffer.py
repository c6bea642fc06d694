from __future__ import annotations

import pytest

RULE = "uninitialised_buffer"
SAMPLE = """__global__ void count(int n, const int* ids, int* sums) { if (ids[n] >= 0) atomicAdd(&sums[ids[n]], 1); }
void f(int n, const int* ids) {
  int* sums;
  cudaMalloc(&sums, n * sizeof(int));
  count<<<n, 64>>>(n, ids, sums);
}
"""
KEYS = """__global__ void keys(int n, const int* radii, uint64_t* out) { if (radii[n] > 0) { out[n] = n; } }
void f(State state) {
  keys<<<n, 64>>>(n, radii, state.keys);
  cub::DeviceRadixSort::SortPairs(temp, size, state.keys, state.sorted, a, b, n);
}
"""


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
        SAMPLE.replace("  count<<<", "  cudaMemset(sums, 0, n * sizeof(int));\n  count<<<"),
        SAMPLE.replace("cudaMalloc(&sums, n * sizeof(int))", "sums = cleared(n)"),
        SAMPLE.replace("  int* sums;\n  cudaMalloc(&sums, n * sizeof(int));\n", "").replace(
            "ids) {", "ids, int* sums) {"
        ),
        SAMPLE.replace("atomicAdd(&sums[ids[n]], 1)", "sums[n] = 1"),
        SAMPLE.replace("atomicAdd(&sums[ids[n]], 1)", "sums[n] = 0; sums[n] += 1"),
        SAMPLE.replace("count<<<n, 64>>>", "elsewhere<<<n, 64>>>"),
        KEYS.replace("if (radii[n] > 0)", "if (n < limit)"),
        KEYS.replace("state.keys, state.sorted", "state.other, state.sorted"),
        KEYS.replace("  keys<<<", "  cudaMemset(state.keys, 0, size);\n  keys<<<"),
    ],
)
def test_no_finding_for_cleared_or_unknown_buffers(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, (5, 28)),
        (SAMPLE.replace("atomicAdd(&sums[ids[n]], 1)", "sums[ids[n]] += 1"), (5, 28)),
        (SAMPLE.replace("  int* sums;\n", "").replace("cudaMalloc(&sums", "auto sums = torch::empty({n}").replace(
            "ids, sums)", "ids, sums.data_ptr<int>())"), (4, 28)),
    ],
)  # fmt: skip
def test_kernel_that_only_adds_to_the_buffer(findings, text, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column, finding.severity) == (*expected, "warning")
    assert finding.message.startswith("sums is allocated but not cleared, and count, which only adds to it, may read")


def test_sort_input_that_is_written_under_a_condition_is_a_note(findings):
    (finding,) = findings(RULE, "a.cu", KEYS)

    assert (finding.line, finding.column, finding.severity) == (3, 29, "note")
    assert "state.keys" in finding.message
    assert "SortPairs" in finding.message
