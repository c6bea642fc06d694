"""The page in a browser: counts, choices and buttons."""

from __future__ import annotations

import io

import numpy
from browser import drives_browser
from PIL import Image
from waiting import wait_until

from rocm3d.viewer.open import MAX_IN_BROWSER
from rocm3d.viewer.source import open_sources
from rocm3d.viewer.stage import serve, server_url
from rocm3d.viewer.view_settings import Page, describe


def test_counts_and_faults_are_described(opened, write_splat, ball):
    rows = ball(2000)
    rows["x"][:3] = numpy.nan

    messages = describe(opened(write_splat(rows=rows), limit=50))

    assert messages.split("\n\n") == [
        "**2,000** Gaussians",
        "*3 of 2000 Gaussians hold NaN or infinity*",
        "*50 of 2,000 Gaussians are drawn (random sample)*",
    ]


def test_one_of_a_folder_is_shown_and_another_can_be_shown_next_to_it(opened, tmp_path, write_splat, write_box):
    write_splat()
    write_box()
    with serve(port=0) as server:
        page = Page(server, open_sources([tmp_path]), None, MAX_IN_BROWSER)
        page.build()
        shown = [entry.path.name for entry in page.shapes]
        page.replace_shape(1, opened(tmp_path / "box.glb"))
        both = [entry.path.name for entry in page.shapes]
        page.set_up_axis(1, "-z")
        turned = [entry.up for entry in page.shapes]
        page.replace_shape(1, None)

        assert shown == ["ball.ply"]
        assert both == ["ball.ply", "box.glb"]
        assert turned == ["-y", "-z"]
        assert [entry.path.name for entry in page.shapes] == ["ball.ply"]


@drives_browser
def test_a_browser_shows_counts_and_saves_what_it_sees(tmp_path, browser, write_splat, write_box):
    write_splat()
    write_box()
    with serve(port=0) as server, browser.open_page(480, 320) as shown:
        page = Page(server, open_sources([tmp_path / "ball.ply", tmp_path / "box.glb"]), None, MAX_IN_BROWSER)
        page.build()
        # Surroundings take software too long.
        server.scene.configure_environment_map(None)
        shown.show(server_url(server))
        text = shown.wait_for_text("12 faces")
        clients = wait_until(server.get_clients, "the connection of the page")
        (client,) = clients.values()
        saved = []
        client.send_file_download = lambda name, data: saved.append((name, data))

        def both_are_in_the_picture() -> bool:
            page.save(client)
            return colours(saved[-1][1]) >= {"red", "blue"}

        wait_until(both_are_in_the_picture, "a picture with both of them")
        console = shown.console()

    assert "400 Gaussians" in text
    assert "Save a picture" in text
    assert {name for name, _ in saved} == {"ball.png"}
    errors = [messages for kind, messages in console if kind in ("error", "exception")]
    assert [
        messages for messages in errors if not messages.startswith("THREE.BufferGeometry.computeBoundingSphere()")
    ] == []


def colours(png: bytes) -> set[str]:
    """Which of the two colours occur in a picture."""
    image = numpy.asarray(Image.open(io.BytesIO(png))).astype(int)
    red = (image[..., 0] > 150) & (image[..., 1] < 100)
    blue = (image[..., 2] > image[..., 0] + 40) & (image[..., 0] < 120)
    return {name for name, visible in (("red", red), ("blue", blue)) if visible.sum() > 200}
