"""Finds compilers for AMD targets: an installed ROCm, a system clang with HIP, or the toolchain made of wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import DetectedToolchain, Toolchains
from rocm3d.toolchain import prepared
from rocm3d.toolchain.installed import installed_rocm, system_clang

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.model.toolchain import ToolchainKind, WheelToolchain
    from rocm3d.toolchain.compiler import Compiler


def newest_recipe(recipes: Mapping[str, WheelToolchain]) -> WheelToolchain:
    """The recipe with the newest HIP headers."""
    return max(recipes.values(), key=lambda recipe: tuple(int(part) for part in recipe.hip.split(".")))


def toolchains(recipes: Mapping[str, WheelToolchain]) -> Toolchains:
    """Every kind of toolchain, with the reason if it cannot be used."""
    rocm, clang = installed_rocm(), system_clang(newest_recipe(recipes).targets[0])
    toolchain_list = (
        rocm.about if rocm else DetectedToolchain(kind="rocm", title="an installed ROCm", lacks="not found"),
        clang.about if clang else DetectedToolchain(kind="clang", title="a system clang with HIP", lacks="not found"),
        prepared.find(newest_recipe(recipes)),
    )
    return Toolchains(found=toolchain_list)


def find_compiler(recipes: Mapping[str, WheelToolchain], kind: ToolchainKind | None = None) -> Compiler:
    """The first usable compiler, or the one of `kind`. Raises MachineError with instructions if there is none."""
    if kind in (None, "rocm") and (rocm := installed_rocm()) is not None:
        return rocm
    # A system clang often has old headers, so a prepared wheel toolchain comes first.
    recipe = newest_recipe(recipes)
    about = prepared.find(recipe)
    if kind in (None, "wheels") and not about.lacks:
        return prepared.compiler(recipe, about=about)
    if kind in (None, "clang") and (clang := system_clang(recipe.targets[0])) is not None:
        return clang
    raise MachineError(f"no compiler for AMD targets found ({about.lacks})")
