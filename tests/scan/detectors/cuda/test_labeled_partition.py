from __future__ import annotations

import pytest

RULE = "labeled_partition"
TEXT = "__device__ void f(int id) {\n  auto g = cg::labeled_partition(warp, id);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("labeled_partition(warp, id)", "tiled_partition<32>(block)"),
        TEXT.replace("cg::labeled_partition", "my::labeled_partition"),
        TEXT.replace("cg::labeled_partition", "thrust::inclusive_scan"),
        TEXT.replace("cg::labeled_partition", "std::exclusive_scan"),
        TEXT.replace("cg::labeled_partition", "inclusive_scan"),
        TEXT.replace("cg::labeled_partition(warp, id)", "cg::labeled_partition"),
        "// cg::labeled_partition(warp, id)\n",
        'const char* s = "cg::labeled_partition(warp, id)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        f"#ifdef USE_ROCM\nint x;\n#else\n{TEXT}#endif\n",
        "cg::labeled_partition(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 12)]),
        (TEXT.replace("cg::", "cooperative_groups::"), [(2, 12)]),
        (TEXT.replace("cg::", ""), [(2, 12)]),
        (TEXT.replace("cg::labeled_partition", "cg::inclusive_scan"), [(2, 12)]),
        (TEXT.replace("cg::labeled_partition", "cg::memcpy_async"), [(2, 12)]),
        ("namespace coop = cooperative_groups;\n" + TEXT.replace("cg::", "coop::"), [(3, 12)]),
        (TEXT.replace("  auto", "\t/* ü */ auto"), [(2, 19)]),
        (f"#ifdef FAST\r\n{TEXT}#endif\n", [(3, 12)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cuh", b"// \xff\xfe\n" + TEXT.encode()) == [(3, 12)]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert finding.code == "CU203"
    assert finding.message == "cg::labeled_partition is missing from HIP's cooperative groups"
