"""An artifact as a page shows it: its picture, its numbers, or the sentence that says why there is none."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from rocm3d.render.charts.histogram import histogram
from rocm3d.render.charts.scale import bytes_, plain

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact

_PNG = b"\x89PNG\r\n\x1a\n"
# In base64; a page holds many.
_LARGEST = 400_000
_DRAWN = ("splat", "mesh", "points", "image", "video")
_WHAT = {"splat": "Gaussian splat", "mesh": "mesh", "points": "point cloud", "arrays": "arrays", "unknown": "file"}


@dataclass(frozen=True)
class ArtifactView:
    """One file of a run."""

    item: Artifact

    @property
    def tone(self) -> str:
        """As a check has it: what nobody could read has not failed."""
        return {"ok": "passed", "bad": "failed", "not_read": "not_run"}[self.item.outcome]

    @property
    def word(self) -> str:
        """The same for people."""
        return {"ok": "sound", "bad": "not sound", "not_read": "not read"}[self.item.outcome]

    @property
    def what(self) -> str:
        """Kind, format and size."""
        kind = _WHAT.get(self.item.kind, self.item.kind)
        size = bytes_(self.item.bytes).of(self.item.bytes) if self.item.bytes else "empty or not read"
        return ", ".join(part for part in (kind, self.item.format, size) if part)

    @property
    def picture(self) -> str:
        """A data address of its PNG; empty where it has none. A bundle may come from anywhere, so it is looked at."""
        text = self.item.preview.picture
        if not text or len(text) > _LARGEST:
            return ""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return ""
        return f"data:image/png;base64,{base64.b64encode(data).decode()}" if data.startswith(_PNG) else ""

    @property
    def no_picture(self) -> str:
        """Why there is no picture."""
        if self.item.outcome != "ok":
            return "No picture: it could not be drawn."
        return "No picture was kept of it." if self.item.kind in _DRAWN else "Numbers alone: there is nothing to draw."

    @property
    def described(self) -> str:
        """What to read in place of the picture."""
        return f"Preview of {self.item.path}, {self.what}"

    @property
    def opacities(self) -> Markup:
        """How opaque the Gaussians are."""
        counts = self.item.preview.histogram
        return Markup(histogram("opacity", counts)) if any(counts) else Markup()  # noqa: S704  (drawn by us)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """Its metrics; those of single arrays are left to the JSON."""
        shown = {name: value for name, value in self.item.metrics.items() if "." not in name}
        return tuple((name.replace("_", " "), _number(value)) for name, value in shown.items())


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"-{plain(-value)}" if value < 0 else plain(value)
