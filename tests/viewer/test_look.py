"""Messages of a page, a picture and a scene."""

from __future__ import annotations

import pytest

from rocm3d.viewer import look as module
from rocm3d.viewer.look import Look
from rocm3d.viewer.source import sources


@pytest.fixture
def looking(write_splat):
    told: list[str] = []
    return Look(sources([write_splat()]), None, 100, told.append, told.append), told


def test_a_page_is_served_until_it_is_interrupted(looking, monkeypatch):
    look, told = looking

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.time, "sleep", interrupt)
    monkeypatch.setattr(module, "open_window", lambda _: False)
    look.page("127.0.0.1", 0, window=True)

    assert told[0].endswith("ball.ply: 400 Gaussians; assuming -y is up (change it with --up)")
    assert told[1] == "  100 of 400 Gaussians are drawn (random sample)"
    assert told[2].startswith("http://127.0.0.1:")
    assert told[3:] == ["open this address in a browser; stop with Ctrl-C", "stopped"]


def test_a_picture_is_told_with_its_place(looking, monkeypatch, tmp_path):
    look, told = looking
    monkeypatch.setattr(module.picture, "write", lambda shapes, out, *size: [f"{len(shapes)} {out.name} {size}"])

    look.picture(tmp_path / "a.png", (64, 48))

    assert told[-2:] == ["1 a.png (64, 48)", str(tmp_path / "a.png")]


def test_a_scene_is_told_with_its_device(looking, monkeypatch, tmp_path):
    look, told = looking
    done = {"blender": "x", "device": "HIP", "devices": ["a card"], "items": [{"as": "mesh"}]}
    monkeypatch.setattr(module.blender, "write", lambda *_: done)

    look.scene(tmp_path / "a.blend", (64, 48), None)

    assert told[-2:] == ["Blender x, Cycles on HIP (a card)", str(tmp_path / "a.blend")]
