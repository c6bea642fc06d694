"""Checks images and textures: not constant, not black, no NaN in float formats. Draws thumbnails."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

# Of 255: lossy codecs do not keep black exactly at 0.
BLACK_LEVEL = 3
_PIXELS = 1 << 27
_THUMBNAIL_SIDE, _PALETTE_SIZE = 256, 128
# A constant texture with at most this many pixels is an intended placeholder.
_PLACEHOLDER_PIXELS = 64
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "PPM")


@dataclass(frozen=True)
class DecodedImage:
    """All channels (rows, columns, channels), the colour channels alone, alpha if any, and the Pillow image."""

    channels: Array
    colours: Array
    alpha: Array | None
    image: Any

    @property
    def is_constant(self) -> bool:
        """Whether all pixels have the same colour."""
        flat = self.colours.reshape(-1, self.colours.shape[-1])
        return bool((flat == flat[:1]).all())


def inspect(path: Path) -> ArtifactReport:
    """Statistics of an image, and a thumbnail."""
    import numpy

    with path.open("rb") as file:
        pixels = decode(file)
    colours = pixels.colours
    finite = colours[numpy.isfinite(colours)]
    scale = 1.0 if colours.dtype.kind == "f" else float(numpy.iinfo(colours.dtype).max)
    nonfinite = colours.size - finite.size
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    rows, columns, channels = pixels.channels.shape
    metrics = {
        "width": columns,
        "height": rows,
        "channels": channels,
        "not_finite": int(nonfinite),
        "mean": float(finite.mean(dtype=numpy.float64)) / scale if finite.size else 0.0,
        "contrast": (high - low) / scale,
    }
    report = ArtifactReport("image", metrics, picture=thumbnail(pixels.image))
    report.add_problem_if(nonfinite, f"{nonfinite} of {colours.size} values are NaN or infinite")
    black_level = BLACK_LEVEL / 255 if scale > 1 else 0.0
    if finite.size and high / scale <= black_level and low >= 0:
        report.problems.append("black: every pixel is black")
    elif not nonfinite and pixels.is_constant:
        report.problems.append("constant: every pixel has the same colour")
    report.add_problem_if(pixels.alpha is not None and not pixels.alpha.any(), "invisible: every pixel is transparent")
    return report


def decode(file: IO[bytes]) -> DecodedImage:
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
                raise UnreadableArtifactError(f"{columns} x {rows} pixels exceed the limit")
            picture.load()
        except Image.DecompressionBombError as error:
            raise UnreadableArtifactError("the image exceeds the pixel limit") from error
        except UnidentifiedImageError as error:
            raise InvalidArtifactError("damaged: the header cannot be read") from error
        except OSError as error:
            raise InvalidArtifactError(f"{'truncated' if 'truncated' in str(error) else 'damaged'}: {error}") from error
    if picture.mode in ("P", "PA", "1", "CMYK", "YCbCr", "LAB", "HSV"):
        picture = picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
    pixels = numpy.asarray(picture)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if not pixels.size:
        raise InvalidArtifactError("empty: no pixels")
    has_alpha = picture.mode in ("LA", "RGBA", "La", "RGBa")
    return DecodedImage(
        pixels, pixels[:, :, :-1] if has_alpha else pixels, pixels[:, :, -1] if has_alpha else None, picture
    )


def check_textures(report: ArtifactReport, textures: Mapping[str, bytes | None], colour_textures: set[str]) -> None:
    """Add the textures to the report. None marks a missing file; `colour_textures` hold the base colour."""
    decoded_count, constant = 0, set()
    for name, data in textures.items():
        if data is None:
            report.problems.append(f"texture {name} is missing")
            continue
        try:
            pixels = decode(io.BytesIO(data))
        except InvalidArtifactError as error:
            report.problems.append(f"texture {name}: {error}")
        except UnreadableArtifactError as error:
            report.unread.append(f"texture {name}: {error}")
        else:
            decoded_count += 1
            rows, columns, _ = pixels.channels.shape
            if pixels.is_constant and rows * columns > _PLACEHOLDER_PIXELS:
                constant.add(name)
    report.metrics |= {"textures": decoded_count, "constant_textures": len(constant)}
    if colour_textures and colour_textures <= constant:
        names = ", ".join(sorted(colour_textures)[:4])
        report.problems.append(f"constant texture: only one colour in {names}")


def thumbnail(picture: Any) -> str:
    """A small PNG in base64; empty for float formats, whose brightness range is unknown."""
    return encode_png(picture, _THUMBNAIL_SIDE) if picture.mode in ("L", "LA", "RGB", "RGBA") else ""


def encode_png(picture: Any, side: int) -> str:
    """A PNG in base64, at most `side` pixels. A small palette makes it a quarter of the size."""
    from PIL import Image

    small = picture.convert("RGBA")
    small.thumbnail((side, side))
    buffer = io.BytesIO()
    small.quantize(_PALETTE_SIZE, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()
