from __future__ import annotations

import pytest

from rocm3d.apply.aliased_text import Alias, Use, with_aliases
from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.guards import fold_cpp, assume_rocm
from rocm3d.syntax.isolation import prove_isolation

OLD = Alias("OLD", cuda="old::call", rocm="new_call")
CAST = Alias("CAST", cuda="", rocm="(const void*)")


def aliased(text: str, alias: Alias = OLD, **parameters) -> bytes:
    data = text.encode()
    at = data.index(b"old")
    return with_aliases(data, [Use(at, at + len(alias.cuda), alias)], parameters)


def test_another_text_than_the_aliass():
    with pytest.raises(Refuse, match="is not"):
        aliased("f(old->call);\n")


def test_a_definition_below_the_use():
    with pytest.raises(Refuse, match="below"):
        aliased("old::call;\n#define ROCM3D_OLD x\n")


def test_nothing_to_do():
    assert with_aliases(b"int a;\n", [], {}) == b"int a;\n"


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
def test_the_alias_reaches_everywhere_and_cuda_sees_nothing(text):
    before = text.encode()

    after = aliased(text)

    assert b"ROCM3D_OLD(" in after
    assert b"#define ROCM3D_OLD new_call" in fold_cpp(after, assume_rocm)
    assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r" in before)
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "cpp-tokens-equal"), proof.detail


def test_an_alias_that_is_empty_for_cuda_stands_in_front():
    after = with_aliases(b"f(kernel);\n", [Use(2, 2, CAST)], {})

    assert after.endswith(b"f(ROCM3D_CAST kernel);\n")
    assert prove_isolation("x.cu", b"f(kernel);\n", after).holds


def test_a_second_edit_uses_what_is_defined():
    first = aliased("old::call(1);\nold::call(2);\n")

    second = aliased(first.decode().replace("#define ROCM3D_OLD old::call", "#define ROCM3D_OLD  keep", 1))

    assert second.count(b"#define ROCM3D_OLD new_call") == 1
    assert second.count(b"ROCM3D_OLD(") == 2
