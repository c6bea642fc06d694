"""Checks of every edit of a rewrite: its isolation is proven, it parses, and it is idempotent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocm3d.syntax.isolation import prove_isolation

Edit = Callable[[bytes, Mapping[str, object]], bytes]


def proven_edit(edit: Edit, before: bytes, parameters: Mapping[str, object], path: str = "x.cu") -> bytes:
    after = edit(before, parameters)
    proof = prove_isolation(path, before, after)
    assert proof.holds, proof.detail
    assert edit(after, parameters) == after
    if path.endswith(".py"):
        compile(after, path, "exec")
    return after


@dataclass(frozen=True)
class PythonEdit:
    """A rewrite of Python modules that begin with `top`: called with the rest, it returns the edited rest."""

    edit: Edit
    parameters: Mapping[str, object]
    top: str = ""

    def __call__(self, text: str) -> str:
        end = "\n" if self.top else ""
        after = proven_edit(self.edit, f"{self.top}{text}{end}".encode(), self.parameters, "model.py")
        return after.decode().removeprefix(self.top)
