from __future__ import annotations

import pytest

RULE = "cub_usage"
TEXT = "__global__ void k() {\n  cub::WarpReduce<float>::TempStorage t;\n}\n"
SORT = "void f() {\n  cub::DeviceRadixSort::SortKeys(tmp, bytes, in, out, n, 32, 64);\n}\n"
PAIRS = "void f() {\n  cub::DeviceRadixSort::SortPairs(tmp, bytes, ki, ko, vi, vo, n, 8, 64);\n}\n"
REUSED = """__global__ void k(int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage temp;
  int a = Reduce(temp).Sum(x);
  __syncthreads();
  int b = Reduce(temp).Sum(y);
}
"""


@pytest.mark.parametrize(
    "text",
    [
        "#include <cub/cub.cuh>\n",
        TEXT.replace("<float>", "<float, 32>"),
        TEXT.replace("cub::", "mine::"),
        TEXT.replace("WarpReduce", "BlockReduce"),
        SORT.replace("32, 64", "0, 64"),
        SORT.replace(", 32, 64", ""),
        SORT.replace("32, 64", "0, 32 + bit"),
        PAIRS.replace("8, 64", "0, 64"),
        SORT.replace("in, out, n, 32, 64", "keys, n, 0, 64").replace("void", "cub::DoubleBuffer<int> keys;\nvoid"),
        PAIRS.replace("ki, ko, vi, vo, n, 8, 64", "k, v, n, 0, 64").replace("void", "cub::DoubleBuffer<int> k;\nvoid"),
        "void f() { cub::DeviceReduce::Sum(tmp, bytes, in, out, n); }\n",
        REUSED,
        "#include <rocprim/rocprim.hpp>\n" + SORT.replace("32, 64", "Decomposer{}"),
        f"// {TEXT}".replace("\n", " "),
        'const char* s = "cub::WarpReduce<float>";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}{SORT}#endif\n",
        "cub::WarpReduce<",
        "void f() { cub::DeviceRadixSort::SortKeys(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 3)]),
        ("typedef cub::WarpScan<int> Scan;\r\n", [(1, 9)]),
        (SORT, [(2, 3)]),
        (PAIRS, [(2, 3)]),
        (SORT.replace("cub::", "CHECK(cub::").replace("64)", "64))"), [(2, 9)]),
        (SORT.replace("32, 64", "Decomposer{}"), [(2, 3)]),
        (REUSED.replace("  __syncthreads();\n", ""), [(5, 11)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT, "cub::WarpReduce becomes hipCUB on ROCm: the default width is the hardware wave size: 64 on CDNA"),
        (SORT, "cub::DeviceRadixSort becomes hipCUB on ROCm: a begin_bit above 0 has sorted wrongly;"),
        (
            REUSED.replace("  __syncthreads();\n", ""),
            "Reduce becomes hipCUB on ROCm: its TempStorage is used again without __syncthreads",
        ),
    ],
)
def test_message_says_what_differs(findings, text, message):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.code, finding.severity) == ("CU205", "warning")
    assert finding.message.startswith(message)


def test_decomposer_is_a_note_if_its_tuple_is_reported(findings):
    text = "struct Decomposer { cuda::std::tuple<int&> operator()(K& k) const; };\n" + SORT.replace(
        "32, 64", "Decomposer{}"
    )

    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.severity) == (3, "note")
