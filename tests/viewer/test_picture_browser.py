"""Finding browsers, and the console messages of a page."""

from __future__ import annotations

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.viewer import picture


def test_without_chromium_one_line_is_printed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MachineError, match="Chromium, which is not installed"):
        picture.find_chromium()


def test_any_of_its_names_will_do(monkeypatch, tmp_path):
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert picture.find_chromium() == str(program)


def test_without_a_screen_nothing_is_opened(monkeypatch):
    monkeypatch.setattr(picture.sys, "platform", "linux")
    monkeypatch.setattr(picture.webbrowser, "open", lambda _: pytest.fail("opened"))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)

    assert picture.open_window("http://127.0.0.1:1") is False


def test_with_a_screen_the_page_is_opened(monkeypatch):
    opened = []
    monkeypatch.setattr(picture.webbrowser, "open", lambda url: opened.append(url) or True)
    monkeypatch.setenv("DISPLAY", ":0")

    assert picture.open_window("http://127.0.0.1:1") is True
    assert opened == ["http://127.0.0.1:1"]


def test_the_console_is_read_out_of_what_chromium_prints():
    printed = (
        b"[1:1:1115/113058.99:WARNING:media/gpu/vaapi.cc:1655] no devices\n"
        b'[1:1:1115/113101.31:INFO:CONSOLE:5364] "Connected! ws://127.0.0.1:1", source: blob:x (1)\n'
        b'[1:1:1115/113101.31:ERROR:CONSOLE(9)] "it "said" so", source: x (9)\n'
    )

    assert picture.console_messages(printed) == ["Connected! ws://127.0.0.1:1", 'it "said" so']
