"""Checks images: not constant, not black, no NaN in float formats. Draws thumbnails."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

# Of 255: lossy codecs do not keep black exactly at 0.
BLACK = 3
_PIXELS = 1 << 27
_THUMBNAIL, _COLOURS = 256, 128
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "PPM")


@dataclass(frozen=True)
class Pixels:
    """All channels (rows, columns, channels), the colour channels alone, alpha if any, and the Pillow image."""

    whole: Array
    colours: Array
    alpha: Array | None
    picture: Any

    @property
    def is_constant(self) -> bool:
        """Whether all pixels have the same colour."""
        flat = self.colours.reshape(-1, self.colours.shape[-1])
        return bool((flat == flat[:1]).all())


def look(path: Path) -> Sight:
    """Statistics of an image, and a thumbnail."""
    import numpy

    with path.open("rb") as file:
        pixels = decoded(file)
    colours = pixels.colours
    finite = colours[numpy.isfinite(colours)]
    scale = 1.0 if colours.dtype.kind == "f" else float(numpy.iinfo(colours.dtype).max)
    broken = colours.size - finite.size
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    rows, columns, channels = pixels.whole.shape
    sight = Sight("image", picture=thumbnail(pixels.picture))
    sight.metrics |= {"width": columns, "height": rows, "channels": channels, "not_finite": int(broken)}
    mean = float(finite.mean(dtype=numpy.float64)) / scale if finite.size else 0.0
    sight.metrics |= {"mean": mean, "contrast": (high - low) / scale}
    sight.object_to(broken, f"{broken} of {colours.size} values are NaN or infinite")
    dark = BLACK / 255 if scale > 1 else 0.0
    if finite.size and high / scale <= dark and low >= 0:
        sight.problems.append("black: every pixel is black")
    elif not broken and pixels.is_constant:
        sight.problems.append("constant: every pixel has the same colour")
    sight.object_to(pixels.alpha is not None and not pixels.alpha.any(), "invisible: every pixel is transparent")
    return sight


def decoded(file: IO[bytes]) -> Pixels:
    """Decode all pixels. The size limit is checked before anything is decoded."""
    import numpy
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        # Pillow warns about large images, which are refused below, and about odd metadata, which is not used.
        warnings.simplefilter("ignore")
        try:
            picture: Image.Image = Image.open(file, formats=_FORMATS)
            columns, rows = picture.size
            if columns * rows > _PIXELS:
                raise Unread(f"{columns} x {rows} pixels exceed the limit")
            picture.load()
        except Image.DecompressionBombError as error:
            raise Unread("the image exceeds the pixel limit") from error
        except UnidentifiedImageError as error:
            raise Unfit("damaged: the header cannot be read") from error
        except OSError as error:
            raise Unfit(f"{'truncated' if 'truncated' in str(error) else 'damaged'}: {error}") from error
    if picture.mode in ("P", "PA", "1", "CMYK", "YCbCr", "LAB", "HSV"):
        picture = picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
    whole = numpy.asarray(picture)
    whole = whole[:, :, None] if whole.ndim == 2 else whole
    if not whole.size:
        raise Unfit("empty: no pixels")
    has_alpha = picture.mode in ("LA", "RGBA", "La", "RGBa")
    return Pixels(whole, whole[:, :, :-1] if has_alpha else whole, whole[:, :, -1] if has_alpha else None, picture)


def thumbnail(picture: Any) -> str:
    """A small PNG in base64; empty for float formats, whose brightness range is unknown."""
    if picture.mode not in ("L", "LA", "RGB", "RGBA"):
        return ""
    return encoded(picture, _THUMBNAIL)


def encoded(picture: Any, side: int) -> str:
    """A PNG in base64, at most `side` pixels. A small palette makes it a quarter of the size."""
    from PIL import Image

    small = picture.convert("RGBA")
    small.thumbnail((side, side))
    kept = io.BytesIO()
    small.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE).save(kept, "PNG", optimize=True)
    return base64.b64encode(kept.getvalue()).decode()
