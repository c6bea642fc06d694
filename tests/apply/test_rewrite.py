from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter, rewrites


def test_a_refusal_carries_its_reason():
    with pytest.raises(RewriteRefusedError, match="not sure"):
        raise RewriteRefusedError("not sure")


def test_rewrites_are_found_by_their_module_names():
    assert {"guard_include", "open_cuda_home_gate", "split_compile_flags"} <= set(rewrites())
    assert all(name == rewrite.name for name, rewrite in rewrites().items())


@pytest.mark.parametrize(
    ("arguments", "expected"), [({}, ()), ({"k": ["a", "b"]}, ("a", "b")), ({"k": "a"}, ("a",)), ({"k": []}, ())]
)
def test_list_parameter(arguments, expected):
    assert list_parameter(arguments, "k") == expected
