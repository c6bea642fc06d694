from __future__ import annotations

import pytest

from rocm3d.syntax.isolation import prove_isolation


def cpp(before: str, after: str) -> bool:
    return prove_isolation("x.cu", before.encode(), after.encode()).holds


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
def test_alias_that_changes_cuda_code_is_rejected(after):
    assert not cpp(KERNEL, ALIAS + after)


def test_alias_of_the_same_text_holds():
    proof = prove_isolation(
        "x.cu", KERNEL.encode(), (ALIAS + KERNEL.replace("__ballot_sync(", "ROCM3D_BALLOT(")).encode()
    )

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
def test_wrongly_extended_condition_is_rejected(before, after):
    assert not cpp(before, after)


def test_directive_inside_a_call_is_rejected():
    before = 'AT_DISPATCH_FLOATING_TYPES(t, "k", [&] {\n  go();\n});\n'
    after = 'AT_DISPATCH_FLOATING_TYPES(t, "k", [&] {\n#if defined(USE_ROCM)\n  hip();\n#else\n  go();\n#endif\n});\n'

    proof = prove_isolation("x.cu", before.encode(), after.encode())

    assert not proof.holds
    assert "inside parentheses" in proof.detail


def test_existing_directive_inside_a_call_is_allowed():
    before = "f(\n#ifdef X\n  1\n#else\n  2\n#endif\n);\nint a;\n"
    after = before + "#if defined(USE_ROCM)\nint b;\n#endif\n"

    assert cpp(before, after)


def test_parentheses_opened_in_every_branch_count_once():
    before = "#ifdef X\nf(\n#else\ng(\n#endif\n1);\nint a;\n"

    assert cpp(before, before + "#if defined(USE_ROCM)\nint b;\n#endif\n")


# The closed list, and ignore files.


LAUNCH = "// a launch\nvoid go() {\n  k << <1, 2 >> > (x);\n}\n"


def test_chevrons_are_on_the_closed_list():
    proof = prove_isolation("x.cu", LAUNCH.encode(), LAUNCH.replace("<< <", "<<<").replace(">> >", ">>>").encode())

    assert (proof.holds, proof.kind) == (True, "closed-list")
    assert "launch chevrons (2)" in proof.detail
    assert "nvcc" in proof.detail


@pytest.mark.parametrize(
    ("old", "new"),
    [("// a launch\n", ""), ("// a launch", "// another"), ("(x)", "(y)"), ("\n}", "\n\n}")],
    ids=["line gone", "comment", "argument", "line added"],
)
def test_edits_not_on_the_closed_list_are_rejected(old, new):
    after = LAUNCH.replace("<< <", "<<<").replace(">> >", ">>>").replace(old, new)

    assert not cpp(LAUNCH, after)


@pytest.mark.parametrize(("old", "new"), [(">> >", ">>>"), ("<< <", "<<<")])
def test_single_chevron_edit_is_rejected(old, new):
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
def test_other_changes_of_an_ignore_file_are_rejected(before, after):
    assert not prove_isolation(".gitignore", before.encode(), after.encode()).holds


@pytest.mark.parametrize("before", ["", "a\n", "a"])
def test_a_marked_block_of_an_ignore_file_holds(before):
    start = before + ("\n" if before and not before.endswith("\n") else "")
    after = f"{start}# rocm3d begin\n*.hip\n# rocm3d end\n"

    assert prove_isolation("sub/.gitignore", before.encode(), after.encode()).holds
    assert prove_isolation(".gitignore", after.encode(), after.encode()).holds
    assert not prove_isolation("requirements.txt", before.encode(), after.encode()).holds
