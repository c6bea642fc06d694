"""An artifact as the HTML report shows it: picture, metrics, or the reason why the picture is missing."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from rocm3d.render.charts.histogram import histogram
from rocm3d.render.charts.scale import format_number, size_unit

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact

_PNG = b"\x89PNG\r\n\x1a\n"
# Characters of base64; a page has many pictures.
_MAX_PICTURE_LENGTH = 400_000
_KINDS_WITH_PICTURE = ("splat", "mesh", "points", "image", "video")
_KIND_LABELS = {
    "splat": "Gaussian splat",
    "mesh": "mesh",
    "points": "point cloud",
    "arrays": "arrays",
    "unknown": "file",
}


@dataclass(frozen=True)
class ArtifactView:
    """Properties are used by the templates."""

    item: Artifact

    @property
    def tone(self) -> str:
        """The CSS class. A file that could not be read has not failed."""
        return {"ok": "passed", "bad": "failed", "not_read": "not_run"}[self.item.outcome]

    @property
    def word(self) -> str:
        """The outcome as text."""
        return {"ok": "valid", "bad": "invalid", "not_read": "not read"}[self.item.outcome]

    @property
    def what(self) -> str:
        """Kind, format and size."""
        kind = _KIND_LABELS.get(self.item.kind, self.item.kind)
        size = size_unit(self.item.bytes).format(self.item.bytes) if self.item.bytes else "empty or not read"
        return ", ".join(part for part in (kind, self.item.format, size) if part)

    @property
    def picture(self) -> str:
        """A data URL of the PNG, or empty. The content is validated: a bundle is untrusted input."""
        text = self.item.preview.picture
        if not text or len(text) > _MAX_PICTURE_LENGTH:
            return ""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return ""
        return f"data:image/png;base64,{base64.b64encode(data).decode()}" if data.startswith(_PNG) else ""

    @property
    def no_picture(self) -> str:
        """The text in place of a missing picture."""
        if self.item.outcome != "ok":
            return "No picture: it could not be drawn."
        return (
            "No picture was stored." if self.item.kind in _KINDS_WITH_PICTURE else "No picture for this kind of file."
        )

    @property
    def described(self) -> str:
        """The alternative text of the picture."""
        return f"Preview of {self.item.path}, {self.what}"

    @property
    def opacities(self) -> Markup:
        """A histogram of opacities; empty for other kinds."""
        counts = self.item.preview.histogram
        return Markup(histogram("opacity", counts)) if any(counts) else Markup()  # noqa: S704  (drawn by us)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The metrics, without those of single arrays: these are only in the JSON."""
        shown = {name: value for name, value in self.item.metrics.items() if "." not in name}
        return tuple((name.replace("_", " "), _format_metric(value)) for name, value in shown.items())


def _format_metric(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"-{format_number(-value)}" if value < 0 else format_number(value)
