from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import registered_noexcept_functions

FUNCTION = "int64_t version() noexcept { return 1; }\n"
REGISTRY = 'static auto r = torch::RegisterOperators().op("a::version", &version);\n'


def names(text):
    unit = CudaUnit("a.cpp", text.encode())
    return [unit.slice(node) for node in registered_noexcept_functions(unit)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        FUNCTION,
        REGISTRY,
        FUNCTION.replace(" noexcept", "") + REGISTRY,
        FUNCTION.replace("version()", "version(int64_t a)") + REGISTRY,
        FUNCTION.replace("version", "other") + REGISTRY,
        FUNCTION + REGISTRY.replace("&version", "[] { return version(); }"),
        FUNCTION + REGISTRY.replace(".op(", ".emplace("),
        f"#ifndef USE_ROCM\n{FUNCTION}{REGISTRY}#endif\n",
        f"// {REGISTRY}",
    ],
)
def test_accepted_registrations(text):
    assert names(text) == []


@pytest.mark.parametrize("scope", ["", "a::", "::a::b::"])
@pytest.mark.parametrize("declared", [FUNCTION, "API int64_t version(void) noexcept;\n"])
def test_noexcept_function_in_any_scope(scope, declared):
    assert names(declared + REGISTRY.replace("&version", f"&{scope}version")) == [f"&{scope}version"]


@given(some.text(alphabet='&:.op(){}version noexcept;\n"', max_size=60))
def test_any_text_does_not_raise(text):
    assert all("version" in name for name in names(FUNCTION + text + REGISTRY))
