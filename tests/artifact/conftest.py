"""Small artifacts in the form in which programs write them."""

from __future__ import annotations

import json
import struct

import numpy
import plyfile
import pytest

SPLAT = (
    *("x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"),
    *(f"f_rest_{at}" for at in range(9)),
    *("opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)


@pytest.fixture
def gaussians():
    """Rows of Gaussians as trainers write them; keywords set a property to one value."""

    def make(count: int, **values: float) -> numpy.ndarray:
        random = numpy.random.default_rng(0)
        rows = numpy.empty(count, dtype=[(name, "f4") for name in SPLAT])
        for name in SPLAT:
            rows[name] = random.normal(size=count) - (4 if name.startswith("scale") else 0)
        for name, value in values.items():
            rows[name] = value
        return rows

    return make


@pytest.fixture
def write_ply(tmp_path):
    """A PLY of elements by name."""

    def write(name: str = "a.ply", *, text: bool = False, **elements: numpy.ndarray):
        described = [plyfile.PlyElement.describe(rows, element) for element, rows in elements.items()]
        plyfile.PlyData(described, text=text).write(str(tmp_path / name))
        return tmp_path / name

    return write


@pytest.fixture
def cube():
    """Vertices (8, 3) and triangles (12, 3) of a closed surface."""
    import trimesh

    box = trimesh.creation.box()
    return numpy.asarray(box.vertices), numpy.asarray(box.faces)


@pytest.fixture
def noise():
    """An image that is neither constant nor black."""

    def make(side: int = 32) -> numpy.ndarray:
        return numpy.random.default_rng(1).integers(0, 256, (side, side, 3), dtype=numpy.uint8)

    return make


@pytest.fixture
def write_glb(tmp_path):
    """A GLB out of its description and its bytes."""

    def write(tree: object, binary: bytes = b"", name: str = "a.glb"):
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 4)
        body = struct.pack("<II", len(text), 0x4E4F534A) + text
        if binary:
            binary += b"\0" * (-len(binary) % 4)
            body += struct.pack("<II", len(binary), 0x004E4942) + binary
        (tmp_path / name).write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
        return tmp_path / name

    return write


@pytest.fixture
def write_mesh(tmp_path, cube):
    """The cube with a texture, as trimesh exports it."""

    def write(name: str, image=None):
        import trimesh

        mesh = trimesh.Trimesh(*cube, process=False)
        if image is not None:
            material = trimesh.visual.material.PBRMaterial(baseColorTexture=image)
            material = material if name.endswith(".glb") else material.to_simple()
            mesh.visual = trimesh.visual.TextureVisuals(uv=mesh.vertices[:, :2], material=material)
        mesh.export(tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def moving():
    """Frames (48, 64, 3) of a moving pattern."""
    row = numpy.tile(numpy.linspace(0, 255, 64, dtype=numpy.uint8)[None, :, None], (48, 1, 3))
    return [numpy.roll(row, 4 * step, axis=1) for step in range(24)]


@pytest.fixture
def write_video(tmp_path):
    """A video with 24 frames per second."""

    def write(name: str, frames):
        import av

        codec, pixels = ("gif", "rgb8") if name.endswith(".gif") else ("mpeg4", "yuv420p")
        with av.open(str(tmp_path / name), "w") as container:
            stream = container.add_stream(codec, rate=24)
            stream.width, stream.height, stream.pix_fmt = 64, 48, pixels
            for frame in frames:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            container.mux(stream.encode())
        return tmp_path / name

    return write
