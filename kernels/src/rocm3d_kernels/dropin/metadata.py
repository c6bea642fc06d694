"""What importlib.metadata says of a package that we stand in for."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

from rocm3d_kernels.dropin.stand_in import DISTRIBUTION, StandIn


class StandInDistribution(Distribution):
    """The name and version of the real one, and in its summary who is really there."""

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in

    def read_text(self, filename: str) -> str | None:
        """METADATA, and the import name by which programs look a distribution up; there are no other files."""
        if filename == "top_level.txt":
            return self.stand_in.name.partition(".")[0] + "\n"
        if filename != "METADATA":
            return None
        name = self.stand_in.distribution or self.stand_in.name
        return (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {self.stand_in.version}\n"
            f"Summary: {DISTRIBUTION} stands in for this package\n"
        )

    def locate_file(self, path: Any) -> Any:
        """No file is installed."""
        raise FileNotFoundError(f"{self.stand_in.name} is {DISTRIBUTION}: it has no file {path}")
