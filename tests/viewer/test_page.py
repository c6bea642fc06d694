"""The page in a browser: counts, choices and buttons."""

from __future__ import annotations

import io

import numpy
from browser import drives_browser
from PIL import Image
from waiting import wait_until

from rocm3d.viewer.open import MOST
from rocm3d.viewer.page import Page, describe
from rocm3d.viewer.server import serve, url
from rocm3d.viewer.source import sources


def test_counts_and_faults_are_described(opened, write_splat, ball):
    rows = ball(2000)
    rows["x"][:3] = numpy.nan

    told = describe(opened(write_splat(rows=rows), most=50))

    assert told.split("\n\n") == [
        "**2,000** Gaussians",
        "*3 of 2000 Gaussians hold NaN or infinity*",
        "*50 of 2,000 Gaussians are drawn (random sample)*",
    ]


def test_one_of_a_folder_is_shown_and_another_can_stand_beside(opened, tmp_path, write_splat, write_box):
    write_splat()
    write_box()
    with serve(port=0) as server:
        page = Page(server, sources([tmp_path]), None, MOST)
        page.build()
        shown = [item.path.name for item in page.shapes]
        page.choose(1, opened(tmp_path / "box.glb"))
        both = [item.path.name for item in page.shapes]
        page.turn(1, "-z")
        turned = [item.up for item in page.shapes]
        page.choose(1, None)

        assert shown == ["ball.ply"]
        assert both == ["ball.ply", "box.glb"]
        assert turned == ["-y", "-z"]
        assert [item.path.name for item in page.shapes] == ["ball.ply"]


@drives_browser
def test_a_browser_shows_counts_and_saves_what_it_sees(tmp_path, browser, write_splat, write_box):
    write_splat()
    write_box()
    with serve(port=0) as server, browser.open_page(480, 320) as shown:
        page = Page(server, sources([tmp_path / "ball.ply", tmp_path / "box.glb"]), None, MOST)
        page.build()
        # Surroundings take software too long.
        server.scene.configure_environment_map(None)
        shown.show(url(server))
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
    errors = [said for kind, said in console if kind in ("error", "exception")]
    assert [said for said in errors if not said.startswith("THREE.BufferGeometry.computeBoundingSphere()")] == []


def colours(png: bytes) -> set[str]:
    """Which of the two colours occur in a picture."""
    image = numpy.asarray(Image.open(io.BytesIO(png))).astype(int)
    red = (image[..., 0] > 150) & (image[..., 1] < 100)
    blue = (image[..., 2] > image[..., 0] + 40) & (image[..., 0] < 120)
    return {name for name, seen in (("red", red), ("blue", blue)) if seen.sum() > 200}
