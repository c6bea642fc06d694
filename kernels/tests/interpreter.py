"""Patches Triton's interpreter: support for NumPy 2.4, and less repeated work."""

from __future__ import annotations

import functools
from typing import Any

from rocm3d_kernels.versions import major_minor

# First Triton release that supports NumPy 2.4.
REPAIRED_IN = (3, 7)


def repair() -> None:
    """Fixes `range(n)` in a kernel, which calls `__index__` of the tensor n.

    The interpreter holds a scalar as an array of one element. Triton 3.6 converts it with `int(array)`, which is an
    error from NumPy 2.4 on ("only 0-dimensional arrays can be converted to Python scalars").
    """
    import triton
    from triton.runtime import interpreter

    if (major_minor(triton.__version__) or REPAIRED_IN) >= REPAIRED_IN:
        return
    patch = interpreter._patch_lang_tensor

    def patch_and_repair(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        tensor.__index__ = index

    interpreter._patch_lang_tensor = patch_and_repair


def index(tensor: Any) -> int:
    """The one element of a scalar."""
    return int(tensor.handle.data.item())


def patch_once() -> None:
    """Patches triton.language once per launch instead of at each call of a jit function.

    The interpreter repeats it at each call, which took a quarter of the time of these tests.
    """
    import triton.language as tl
    from triton.runtime import interpreter

    patch, patched = interpreter._patch_lang, set()

    @functools.cache
    def languages(function: Any) -> frozenset[int]:
        return frozenset(id(value) for value in function.__globals__.values() if value is tl or value is tl.core)

    def patch_if_needed(function: Any) -> Any:
        function_languages = languages(function)
        if function_languages and function_languages <= patched:
            return None
        scope = patch(function)
        restore = scope.restore
        patched.update(function_languages)

        def restore_and_clear() -> None:
            restore()
            patched.clear()

        scope.restore = restore_and_clear
        return scope

    interpreter._patch_lang = patch_if_needed
