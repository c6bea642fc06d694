from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import Refuse, rewrites, words


def test_a_refusal_carries_its_reason():
    with pytest.raises(Refuse, match="not sure"):
        raise Refuse("not sure")


def test_rewrites_are_found_by_their_module_names():
    assert {"guard_include", "open_cuda_home_gate", "split_compile_flags"} <= set(rewrites())
    assert all(name == rewrite.name for name, rewrite in rewrites().items())


@pytest.mark.parametrize(
    ("given", "expected"), [({}, ()), ({"k": ["a", "b"]}, ("a", "b")), ({"k": "a"}, ("a",)), ({"k": []}, ())]
)
def test_words_of_a_parameter(given, expected):
    assert words(given, "k") == expected
