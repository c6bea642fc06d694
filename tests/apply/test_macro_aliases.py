from __future__ import annotations

import pytest

from rocm3d.apply.macro_aliases import AliasUse, MacroAlias, insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

OLD = MacroAlias("OLD", cuda="old::call", rocm="new_call")
CAST = MacroAlias("CAST", cuda="", rocm="(const void*)")


def aliased(text: str, alias: MacroAlias = OLD, **parameters) -> bytes:
    data = text.encode()
    at = data.index(b"old")
    return insert_aliases(data, [AliasUse(at, at + len(alias.cuda), alias)], parameters)


def test_text_that_differs_from_the_alias_is_refused():
    with pytest.raises(RewriteRefusedError, match="is not"):
        aliased("f(old->call);\n")


def test_definition_below_the_first_use_is_refused():
    with pytest.raises(RewriteRefusedError, match="below"):
        aliased("old::call;\n#define ROCM3D_OLD x\n")


def test_no_uses_leave_the_file_unchanged():
    assert insert_aliases(b"int a;\n", [], {}) == b"int a;\n"


@pytest.mark.parametrize(
    "text",
    [
        "int x = old::call(1);\n",
        "#define X(a) \\\n  old::call(a)\nint b = X(1);\n",
        "AT_DISPATCH(t, [&] {\n  old::call(1);\n});\n",
        "#pragma once\r\nold::call(1);\r\n",
    ],
    ids=["plain", "macro", "dispatch", "line ends"],
)
def test_alias_works_everywhere_and_cuda_code_is_unchanged(text):
    before = text.encode()

    after = aliased(text)

    assert b"ROCM3D_OLD(" in after
    assert b"#define ROCM3D_OLD new_call" in fold_cpp(after, assume_rocm)
    assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r" in before)
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "cpp-tokens-equal"), proof.detail


def test_alias_that_is_empty_for_cuda_precedes_the_token():
    after = insert_aliases(b"f(kernel);\n", [AliasUse(2, 2, CAST)], {})

    assert after.endswith(b"f(ROCM3D_CAST kernel);\n")
    assert prove_isolation("x.cu", b"f(kernel);\n", after).holds


def test_second_edit_reuses_the_definition():
    first = aliased("old::call(1);\nold::call(2);\n")

    second = aliased(first.decode().replace("#define ROCM3D_OLD old::call", "#define ROCM3D_OLD  keep", 1))

    assert second.count(b"#define ROCM3D_OLD new_call") == 1
    assert second.count(b"ROCM3D_OLD(") == 2
