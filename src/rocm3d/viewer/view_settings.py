"""Shows one or two artifacts as a web page, a PNG or a Blender scene."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from rocm3d.model.errors import Rocm3dError
from rocm3d.viewer import blender, picture
from rocm3d.viewer.open import MAX_IN_BROWSER, MAX_IN_SOFTWARE, load_shape
from rocm3d.viewer.picture import encode_png, open_window
from rocm3d.viewer.shape import Up
from rocm3d.viewer.stage import add_lights, draw, serve, server_url, short_names

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import Shape
    from rocm3d.viewer.source import ViewSource

# Width / height of a usual window without the panel.
_PAGE_ASPECT = 1.0
_NOTHING = "(nothing)"


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


class Page:
    """The shapes that are shown. Every choice of the user redraws them."""

    def __init__(self, server: ViserServer, sources: list[ViewSource], up: Up | None, limit: int) -> None:
        self.server, self.sources, self.limit = server, sources, limit
        self.up = up
        self.shapes = [self._load(source.first) for source in sources]
        self._folders: list[Any] = []

    def build(self) -> None:
        add_lights(self.server, plain=False)
        self._add_choosers()
        self._add_button("Reset the view", lambda _: self.draw())
        self._add_button("Save a picture", self.save)
        self.draw()

    def draw(self) -> None:
        """Redraw the scene and the panel."""
        _, notes = draw(self.server, self.shapes, aspect=_PAGE_ASPECT)
        for folder in self._folders:
            folder.remove()
        self._folders = [self._add_description(number) for number in range(len(self.shapes))]
        if notes:
            self._folders.append(self.server.gui.add_markdown("\n\n".join(notes)))

    def replace_shape(self, number: int, replacement: Shape | None) -> None:
        """Replace the shape at this index; None removes it."""
        self.shapes[number : number + 1] = [] if replacement is None else [replacement]
        self.draw()

    def set_up_axis(self, number: int, up: Up) -> None:
        """Change which axis of one shape is up."""
        self.replace_shape(number, replace(self.shapes[number], up=up))

    def save(self, client: ClientHandle | None) -> None:
        """Download what this client sees as a PNG."""
        if client is not None:
            view = client.camera
            drawn = client.get_render(view.image_height, view.image_width, transport_format="png")
            client.send_file_download(f"{self.shapes[0].path.stem}.png", encode_png(drawn))

    def _add_description(self, number: int) -> Any:
        shape, gui = self.shapes[number], self.server.gui
        folder = gui.add_folder(short_names([one.path for one in self.shapes])[number])
        with folder:
            gui.add_markdown(describe(shape))
            ups = gui.add_dropdown("Up", get_args(Up), initial_value=shape.up)
            ups.on_update(lambda _: self.set_up_axis(number, cast("Up", ups.value)))
        return folder

    def _add_choosers(self) -> None:
        """One list per folder; a single folder gets a second list, for the shape on the other side."""
        for number, source in enumerate(self.sources):
            if len(source.choices) > 1:
                first = next(name for name, item in source.choices_by_name.items() if item is source.first)
                self._add_chooser(number, source, list(source.choices_by_name), first)
        if len(self.sources) == 1 and len(self.sources[0].choices) > 1:
            self._add_chooser(1, self.sources[0], [_NOTHING, *self.sources[0].choices_by_name], _NOTHING)

    def _add_chooser(self, number: int, source: ViewSource, options: list[str], first: str) -> None:
        picker = self.server.gui.add_dropdown("Beside" if number else "Show", options, initial_value=first)

        def pick(event: Any) -> None:
            try:
                chosen = source.choices_by_name.get(picker.value)
                self.replace_shape(number, None if chosen is None else self._load(chosen))
            except Rocm3dError as failure:
                if event.client is not None:
                    event.client.add_notification("Cannot be shown", failure.message, color="red")

        picker.on_update(pick)

    def _load(self, artifact: Artifact) -> Shape:
        return load_shape(Path(artifact.path), self.up, self.limit, artifact)

    def _add_button(self, label: str, act: Callable[[ClientHandle | None], None]) -> None:
        self.server.gui.add_button(label).on_click(lambda event: act(event.client))


def describe(shape: Shape) -> str:
    """Counts and notes as Markdown; markup characters in notes are removed."""
    rows = [f"**{count:,}** {word}" for word, count in shape.counts.items()]
    notes = [f"*{note.replace('*', '').replace('_', ' ')}*" for note in shape.notes]
    return "\n\n".join([", ".join(rows), *notes])
