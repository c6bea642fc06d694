"""Distribution metadata of drop-ins, for importlib.metadata."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

from rocm3d_kernels.dropin.declaration import DISTRIBUTION, DropIn


class DropInDistribution(Distribution):
    """Has the name and version of the original package; its summary names rocm3d-kernels."""

    def __init__(self, drop_in: DropIn) -> None:
        self.drop_in = drop_in

    def read_text(self, filename: str) -> str | None:
        """METADATA and top_level.txt, by which programs map import names to distributions; None for other files."""
        if filename == "top_level.txt":
            return self.drop_in.name.partition(".")[0] + "\n"
        if filename != "METADATA":
            return None
        name = self.drop_in.distribution or self.drop_in.name
        return (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {self.drop_in.version}\n"
            f"Summary: replaced by {DISTRIBUTION}\n"
        )

    def locate_file(self, path: Any) -> Any:
        """Raises: a drop-in has no installed files."""
        raise FileNotFoundError(f"{self.drop_in.name} is a drop-in of {DISTRIBUTION} and has no file {path}")
