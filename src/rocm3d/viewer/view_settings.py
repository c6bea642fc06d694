"""Shows one or two artifacts as a web page, a PNG or a Blender scene."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.viewer import blender, picture
from rocm3d.viewer.browser import open_window
from rocm3d.viewer.open import MAX_IN_BROWSER, MAX_IN_SOFTWARE, load_shape
from rocm3d.viewer.page import Page
from rocm3d.viewer.server import serve, server_url

if TYPE_CHECKING:
    from rocm3d.viewer.shape import Shape, Up
    from rocm3d.viewer.source import ViewSource


@dataclass(frozen=True)
class ViewSettings:
    """`limit` is the maximum number of points or Gaussians (0: the default). `say` prints progress, `show` the URL."""

    sources: list[ViewSource]
    up: Up | None
    limit: int
    say: Callable[[str], None]
    show: Callable[[str], None]

    def page(self, host: str, port: int, *, window: bool) -> None:
        """Serve a page until Ctrl-C."""
        with serve(host, port or None) as server:
            page = Page(server, self.sources, self.up, self.limit or MAX_IN_BROWSER)
            page.build()
            for drawn in page.shapes:
                self._describe(drawn)
            address = server_url(server)
            self.show(f"{address}\n")
            opened = window and open_window(address)
            self.say(f"{'opened in your browser' if opened else 'open this address in a browser'}; stop with Ctrl-C")
            try:
                while True:
                    time.sleep(3600)
            except KeyboardInterrupt:
                # The regular way to stop.
                self.say("stopped")

    def picture(self, out: Path, size: tuple[int, int]) -> None:
        notes = picture.write(self._shapes(MAX_IN_SOFTWARE), out, *size)
        for note in (*notes, str(out)):
            self.say(note)

    def scene(self, out: Path, size: tuple[int, int], python: Path | None) -> None:
        result = blender.write(self._shapes(blender.MAX_ELLIPSOIDS), out, size, python)
        for note in (*blender.summary_lines(result), str(out)):
            self.say(note)

    def _shapes(self, most: int) -> list[Shape]:
        opened = [load_shape(Path(item.first.path), self.up, self.limit or most, item.first) for item in self.sources]
        for item in opened:
            self._describe(item)
        return opened

    def _describe(self, shape: Shape) -> None:
        guess = "" if self.up else f"; assuming {shape.up} is up (change it with --up)"
        self.say(f"{shape.path}: {shape.counts_text}{guess}")
        for note in shape.notes:
            self.say(f"  {note}")
