"""Messages of a page, a picture and a scene."""

from __future__ import annotations

import pytest

from rocm3d.viewer import view_settings as module
from rocm3d.viewer.source import open_sources
from rocm3d.viewer.view_settings import ViewSettings


@pytest.fixture
def view_settings(write_splat):
    messages: list[str] = []
    return ViewSettings(open_sources([write_splat()]), None, 100, messages.append, messages.append), messages


def test_a_page_is_served_until_it_is_interrupted(view_settings, monkeypatch):
    view, messages = view_settings

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.time, "sleep", interrupt)
    monkeypatch.setattr(module, "open_window", lambda _: False)
    view.page("127.0.0.1", 0, window=True)

    assert messages[0].endswith("ball.ply: 400 Gaussians; assuming -y is up (change it with --up)")
    assert messages[1] == "  100 of 400 Gaussians are drawn (random sample)"
    assert messages[2].startswith("http://127.0.0.1:")
    assert messages[3:] == ["open this address in a browser; stop with Ctrl-C", "stopped"]


def test_a_picture_is_reported_with_its_path(view_settings, monkeypatch, tmp_path):
    view, messages = view_settings
    monkeypatch.setattr(module.picture, "write", lambda shapes, out, *size: [f"{len(shapes)} {out.name} {size}"])

    view.picture(tmp_path / "a.png", (64, 48))

    assert messages[-2:] == ["1 a.png (64, 48)", str(tmp_path / "a.png")]


def test_a_scene_is_reported_with_its_device(view_settings, monkeypatch, tmp_path):
    view, messages = view_settings
    done = {"blender": "x", "device": "HIP", "devices": ["a card"], "items": [{"as": "mesh"}]}
    monkeypatch.setattr(module.blender, "write", lambda *_: done)

    view.scene(tmp_path / "a.blend", (64, 48), None)

    assert messages[-2:] == ["Blender x, Cycles on HIP (a card)", str(tmp_path / "a.blend")]
