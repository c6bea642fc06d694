from __future__ import annotations

import pytest

RULE = "uninitialised_buffer"
FOUND = """__global__ void count(int n, const int* ids, int* sums) { if (ids[n] >= 0) atomicAdd(&sums[ids[n]], 1); }
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
        FOUND.replace("  count<<<", "  cudaMemset(sums, 0, n * sizeof(int));\n  count<<<"),
        FOUND.replace("cudaMalloc(&sums, n * sizeof(int))", "sums = cleared(n)"),
        FOUND.replace("  int* sums;\n  cudaMalloc(&sums, n * sizeof(int));\n", "").replace(
            "ids) {", "ids, int* sums) {"
        ),
        FOUND.replace("atomicAdd(&sums[ids[n]], 1)", "sums[n] = 1"),
        FOUND.replace("atomicAdd(&sums[ids[n]], 1)", "sums[n] = 0; sums[n] += 1"),
        FOUND.replace("count<<<n, 64>>>", "elsewhere<<<n, 64>>>"),
        KEYS.replace("if (radii[n] > 0)", "if (n < limit)"),
        KEYS.replace("state.keys, state.sorted", "state.other, state.sorted"),
        KEYS.replace("  keys<<<", "  cudaMemset(state.keys, 0, size);\n  keys<<<"),
    ],
)
def test_what_is_cleared_or_not_known_is_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, (5, 28)),
        (FOUND.replace("atomicAdd(&sums[ids[n]], 1)", "sums[ids[n]] += 1"), (5, 28)),
        (FOUND.replace("  int* sums;\n", "").replace("cudaMalloc(&sums", "auto sums = torch::empty({n}").replace(
            "ids, sums)", "ids, sums.data_ptr<int>())"), (4, 28)),
    ],
)  # fmt: skip
def test_buffer_that_is_only_added_to(findings, text, where):
    (found,) = findings(RULE, "a.cu", text)

    assert (found.line, found.column, found.severity) == (*where, "warning")
    assert found.message.startswith("sums is allocated but not cleared, and count, which only adds to it, may read")


def test_sort_input_that_is_written_under_a_condition_is_a_note(findings):
    (found,) = findings(RULE, "a.cu", KEYS)

    assert (found.line, found.column, found.severity) == (3, 29, "note")
    assert "state.keys" in found.message
    assert "SortPairs" in found.message
