"""Shows one or two artifacts as a web page, a PNG or a Blender scene."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.viewer import blender, picture
from rocm3d.viewer.browser import open_window
from rocm3d.viewer.open import MOST, MOST_IN_SOFTWARE, shape
from rocm3d.viewer.page import Page
from rocm3d.viewer.server import serve, url

if TYPE_CHECKING:
    from rocm3d.viewer.shape import Shape, Up
    from rocm3d.viewer.source import Source


@dataclass(frozen=True)
class Look:
    """`limit` is the maximum number of points or Gaussians (0: the default). `say` prints progress, `show` the URL."""

    sources: list[Source]
    up: Up | None
    limit: int
    say: Callable[[str], None]
    show: Callable[[str], None]

    def page(self, host: str, port: int, *, window: bool) -> None:
        """Serve a page until Ctrl-C."""
        with serve(host, port or None) as server:
            page = Page(server, self.sources, self.up, self.limit or MOST)
            page.build()
            for item in page.shapes:
                self._tell(item)
            address = url(server)
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
        notes = picture.write(self._shapes(MOST_IN_SOFTWARE), out, *size)
        for note in (*notes, str(out)):
            self.say(note)

    def scene(self, out: Path, size: tuple[int, int], python: Path | None) -> None:
        done = blender.write(self._shapes(blender.MOST), out, size, python)
        for note in (*blender.told(done), str(out)):
            self.say(note)

    def _shapes(self, most: int) -> list[Shape]:
        opened = [shape(Path(item.first.path), self.up, self.limit or most, item.first) for item in self.sources]
        for item in opened:
            self._tell(item)
        return opened

    def _tell(self, item: Shape) -> None:
        guess = "" if self.up else f"; assuming {item.up} is up (change it with --up)"
        self.say(f"{item.path}: {item.counted}{guess}")
        for note in item.notes:
            self.say(f"  {note}")
