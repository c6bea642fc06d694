from __future__ import annotations

import pytest

from rocm3d.syntax.isolation import prove


def cpp(before: str, after: str) -> bool:
    return prove("x.cu", before.encode(), after.encode()).holds


# Aliases and extended conditions.


ALIAS = (
    "#if defined(USE_ROCM)\n#define ROCM3D_BALLOT(m, v) __ballot(v)\n"
    "#else\n#define ROCM3D_BALLOT(m, v) __ballot_sync(m, v)\n#endif\n"
)
KERNEL = "__global__ void k(int* x) { x[0] = __ballot_sync(0xffffffff, x[1]); }\n"


@pytest.mark.parametrize(
    "after",
    [
        KERNEL.replace("__ballot_sync(0xffffffff,", "ROCM3D_BALLOT(0xffff,"),
        KERNEL.replace("__ballot_sync(0xffffffff, x[1])", "ROCM3D_BALLOT(x[1], 0xffffffff)"),
        KERNEL.replace("__ballot_sync(0xffffffff, x[1])", "ROCM3D_BALLOT(0xffffffff, x[1]) + 0"),
    ],
)
def test_an_alias_that_changes_the_cuda_text_is_refused(after):
    assert not cpp(KERNEL, ALIAS + after)


def test_an_alias_that_stands_for_the_same_text_holds():
    proof = prove("x.cu", KERNEL.encode(), (ALIAS + KERNEL.replace("__ballot_sync(", "ROCM3D_BALLOT(")).encode())

    assert (proof.holds, proof.kind) == (True, "cpp-tokens-equal")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#ifdef __CUDA_ARCH__\na\n#endif\n", "#if defined(__CUDA_ARCH__) || defined(USE_ROCM)\na\n#endif\n"),
        ("#ifndef __NVCC__\na\n#endif\n", "#if !defined(__NVCC__) && !defined(USE_ROCM)\na\n#endif\n"),
        ("#if __CUDA_ARCH__ >= 600\na\n#endif\n", "#if __CUDA_ARCH__ >= 600 || defined(USE_ROCM)\na\n#endif\n"),
    ],
)
def test_a_condition_extended_for_rocm_holds(before, after):
    assert cpp(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#ifdef __CUDA_ARCH__\na\n#endif\n", "#if !defined(__CUDA_ARCH__) || defined(USE_ROCM)\na\n#endif\n"),
        ("#ifdef __CUDA_ARCH__\na\n#endif\n", "#if defined(__CUDACC__) || defined(USE_ROCM)\na\n#endif\n"),
        ("#ifdef __CUDA_ARCH__\na\n#endif\n", "#if defined(__CUDA_ARCH__) && defined(USE_ROCM)\na\n#endif\n"),
    ],
)
def test_a_condition_extended_wrongly_is_refused(before, after):
    assert not cpp(before, after)


def test_a_directive_inside_a_call_is_refused():
    before = 'AT_DISPATCH_FLOATING_TYPES(t, "k", [&] {\n  go();\n});\n'
    after = 'AT_DISPATCH_FLOATING_TYPES(t, "k", [&] {\n#if defined(USE_ROCM)\n  hip();\n#else\n  go();\n#endif\n});\n'

    proof = prove("x.cu", before.encode(), after.encode())

    assert not proof.holds
    assert "inside parentheses" in proof.detail


def test_a_directive_that_stood_inside_a_call_before_is_no_reason():
    before = "f(\n#ifdef X\n  1\n#else\n  2\n#endif\n);\nint a;\n"
    after = before + "#if defined(USE_ROCM)\nint b;\n#endif\n"

    assert cpp(before, after)


def test_parentheses_opened_in_every_branch_count_once():
    before = "#ifdef X\nf(\n#else\ng(\n#endif\n1);\nint a;\n"

    assert cpp(before, before + "#if defined(USE_ROCM)\nint b;\n#endif\n")


# The closed list, and ignore files.


LAUNCH = "// a launch\nvoid go() {\n  k << <1, 2 >> > (x);\n}\n"


def test_chevrons_alone_hold_as_one_of_the_closed_list():
    proof = prove("x.cu", LAUNCH.encode(), LAUNCH.replace("<< <", "<<<").replace(">> >", ">>>").encode())

    assert (proof.holds, proof.kind) == (True, "closed-list")
    assert "launch chevrons (2)" in proof.detail
    assert "nvcc" in proof.detail


@pytest.mark.parametrize(
    ("old", "new"),
    [("// a launch\n", ""), ("// a launch", "// another"), ("(x)", "(y)"), ("\n}", "\n\n}")],
    ids=["line gone", "comment", "argument", "line added"],
)
def test_anything_beside_the_closed_list_is_refused(old, new):
    after = LAUNCH.replace("<< <", "<<<").replace(">> >", ">>>").replace(old, new)

    assert not cpp(LAUNCH, after)


@pytest.mark.parametrize(("old", "new"), [(">> >", ">>>"), ("<< <", "<<<")])
def test_one_chevron_alone_is_refused(old, new):
    assert not cpp(LAUNCH, LAUNCH.replace(old, new))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "*.hip\n"),
        ("a\n", "a\n*.hip\n"),
        ("a\n", "a\n# rocm3d begin\n*.hip\n"),
        ("a\n", "a\n# rocm3d begin\n*.hip\n# rocm3d end\nb\n"),
        ("a\n", "a\n# rocm3d begin\n!a\n# rocm3d end\n"),
        ("a\n", "b\n# rocm3d begin\n*.hip\n# rocm3d end\n"),
    ],
)
def test_an_ignore_file_takes_one_marked_block_at_its_end(before, after):
    assert not prove(".gitignore", before.encode(), after.encode()).holds


@pytest.mark.parametrize("before", ["", "a\n", "a"])
def test_a_marked_block_of_an_ignore_file_holds(before):
    start = before + ("\n" if before and not before.endswith("\n") else "")
    after = f"{start}# rocm3d begin\n*.hip\n# rocm3d end\n"

    assert prove("sub/.gitignore", before.encode(), after.encode()).holds
    assert prove(".gitignore", after.encode(), after.encode()).holds
    assert not prove("requirements.txt", before.encode(), after.encode()).holds
