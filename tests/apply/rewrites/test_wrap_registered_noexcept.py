from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rewriting import proven_edit

from rocm3d.apply.rewrites.wrap_registered_noexcept import edit
from rocm3d.syntax.isolation import prove_isolation

FUNCTION = "int64_t version() noexcept { return 1; }\n"
REGISTRY = 'static auto r = torch::RegisterOperators().op(\n    "a::version", &version);\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        REGISTRY,
        FUNCTION.replace(" noexcept", "") + REGISTRY,
        FUNCTION + REGISTRY.replace("&version", "[] { return version(); }"),
        f"#ifdef USE_ROCM\n{FUNCTION}{REGISTRY}#endif\n",
        f"#ifndef USE_ROCM\n{FUNCTION}{REGISTRY}#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), {}) == text.encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["version", "a::version", "::a::version"])
def test_wraps_in_a_lambda_on_rocm_only(name, end):
    before = (FUNCTION + REGISTRY.replace("&version", f"&{name}")).replace("\n", end).encode()

    after = proven_edit(edit, before, {}, "version.cpp")

    assert f"[] {{ return {name}(); }}".encode() in after


def test_wraps_two_functions_in_one_registration():
    both = FUNCTION + FUNCTION.replace("version", "build") + REGISTRY.replace(");", ').op("a::build", &build);')
    after = edit(both.encode(), {})

    assert after.count(b"[] { return") == 2
    assert prove_isolation("version.cpp", both.encode(), after).holds


@given(
    some.lists(some.sampled_from([FUNCTION, REGISTRY, "#ifdef WITH_CUDA\n", "#endif\n", "int x;\n", "}\n"]), max_size=8)
)
def test_any_edit_is_proven_and_idempotent(parts):
    before = "".join(parts).encode()
    after = edit(before, {})

    assert edit(after, {}) == after
    assert after == before or prove_isolation("version.cpp", before, after).holds
