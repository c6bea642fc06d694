"""The web page: the 3D scene, and a panel with counts, choices and buttons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from rocm3d.model.failure import Rocm3dError
from rocm3d.viewer.open import shape
from rocm3d.viewer.picture import png
from rocm3d.viewer.shape import Up
from rocm3d.viewer.stage import draw, light, names

if TYPE_CHECKING:
    from collections.abc import Callable

    from viser import ClientHandle, ViserServer

    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import Shape
    from rocm3d.viewer.source import Source

# Width / height of a usual window without the panel.
_ASPECT = 1.0
_NOTHING = "(nothing)"


class Page:
    """The shapes that are shown. Every choice of the user redraws them."""

    def __init__(self, server: ViserServer, sources: list[Source], up: Up | None, most: int) -> None:
        self.server, self.sources, self.most = server, sources, most
        self.up = up
        self.shapes = [self._opened(source.first) for source in sources]
        self._folders: list[Any] = []

    def build(self) -> None:
        light(self.server, plain=False)
        self._choosers()
        self._button("Reset the view", lambda _: self.draw())
        self._button("Save a picture", self.save)
        self.draw()

    def draw(self) -> None:
        """Redraw the scene and the panel."""
        _, notes = draw(self.server, self.shapes, aspect=_ASPECT)
        for folder in self._folders:
            folder.remove()
        self._folders = [self._described(number) for number in range(len(self.shapes))]
        if notes:
            self._folders.append(self.server.gui.add_markdown("\n\n".join(notes)))

    def choose(self, number: int, picked: Shape | None) -> None:
        """Replace the shape at this index; None removes it."""
        kept = list(self.shapes)
        kept[number:] = [picked, *kept[number + 1 :]] if picked is not None else kept[number + 1 :]
        self.shapes = kept
        self.draw()

    def turn(self, number: int, up: Up) -> None:
        """Change which axis of one shape is up."""
        was = self.shapes[number]
        self.choose(number, type(was)(was.path, was.artifact, was.form, up, was.notes))

    def save(self, client: ClientHandle | None) -> None:
        """Download what this client sees as a PNG."""
        if client is not None:
            view = client.camera
            drawn = client.get_render(view.image_height, view.image_width, transport_format="png")
            client.send_file_download(f"{self.shapes[0].path.stem}.png", png(drawn))

    def _described(self, number: int) -> Any:
        item, gui = self.shapes[number], self.server.gui
        folder = gui.add_folder(names([one.path for one in self.shapes])[number])
        with folder:
            gui.add_markdown(describe(item))
            ups = gui.add_dropdown("Up", get_args(Up), initial_value=item.up)
            ups.on_update(lambda _: self.turn(number, cast("Up", ups.value)))
        return folder

    def _choosers(self) -> None:
        """One list per folder; a single folder gets a second list, for the shape on the other side."""
        for number, source in enumerate(self.sources):
            if len(source.choices) > 1:
                first = next(name for name, item in source.named.items() if item is source.first)
                self._chooser(number, source, list(source.named), first)
        if len(self.sources) == 1 and len(self.sources[0].choices) > 1:
            self._chooser(1, self.sources[0], [_NOTHING, *self.sources[0].named], _NOTHING)

    def _chooser(self, number: int, source: Source, listed: list[str], first: str) -> None:
        picker = self.server.gui.add_dropdown("Beside" if number else "Show", listed, initial_value=first)

        def pick(event: Any) -> None:
            try:
                chosen = source.named.get(picker.value)
                self.choose(number, None if chosen is None else self._opened(chosen))
            except Rocm3dError as failure:
                if event.client is not None:
                    event.client.add_notification("Cannot be shown", failure.message, color="red")

        picker.on_update(pick)

    def _opened(self, artifact: Artifact) -> Shape:
        return shape(Path(artifact.path), self.up, self.most, artifact)

    def _button(self, label: str, act: Callable[[ClientHandle | None], None]) -> None:
        self.server.gui.add_button(label).on_click(lambda event: act(event.client))


def describe(item: Shape) -> str:
    """Counts and notes as Markdown; markup characters in notes are removed."""
    rows = [f"**{count:,}** {word}" for word, count in item.counts.items()]
    notes = [f"*{note.replace('*', '').replace('_', ' ')}*" for note in item.notes]
    return "\n\n".join([", ".join(rows), *notes])
