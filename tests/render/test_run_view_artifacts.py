from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.artifact import Preview
from rocm3d.render.run_view import ArtifactView


@pytest.mark.parametrize(
    "text",
    ["", "no base64 at all", base64.b64encode(b"GIF89a").decode(), "A" * 500_000, '"><script>', "iVBORw0KGgo\n"],
    ids=["none", "text", "another format", "too large", "markup", "broken"],
)
def test_what_is_no_small_png_is_not_shown(make, text):
    assert ArtifactView(make.artifact(preview=Preview(picture=text))).picture == ""


@given(st.text(max_size=40))
def test_no_text_reaches_the_address_of_a_picture(make, text):
    result = ArtifactView(make.artifact(preview=Preview(picture=text))).picture

    assert result == "" or set(result) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:;,")


def test_a_png_is_shown_as_it_is(make):
    view = ArtifactView(make.artifact())

    assert view.picture == f"data:image/png;base64,{make.PNG}"
    assert view.described == "Preview of out/scene.ply, Gaussian splat, PLY, 2 KiB"


def test_without_a_picture_a_sentence_is_shown(make):
    bad = make.artifact(outcome="bad", problems=("empty: 0 bytes",), bytes=0, format="", preview=Preview())
    numbers = make.artifact(kind="arrays", preview=Preview())

    assert ArtifactView(bad).no_picture == "No picture: it could not be drawn."
    assert ArtifactView(bad).what == "Gaussian splat, empty or not read"
    assert ArtifactView(numbers).no_picture == "No picture for this kind of file."
    assert ArtifactView(make.artifact(preview=Preview())).no_picture == "No picture was stored."


@pytest.mark.parametrize(
    ("outcome", "tone", "name"),
    [("ok", "passed", "valid"), ("bad", "failed", "invalid"), ("not_read", "not_run", "not read")],
)
def test_what_nobody_read_has_not_failed(make, outcome, tone, name):
    view = ArtifactView(make.artifact(outcome=outcome, problems=() if outcome == "ok" else ("why",)))

    assert (view.tone, view.word) == (tone, name)


def test_numbers_of_single_arrays_are_left_out(make):
    view = ArtifactView(make.artifact(metrics={"not_finite": 1234567, "minimum": -0.5, "poses.nan": 3}))

    assert view.numbers == (("not finite", "1,234,567"), ("minimum", "-0.5"))


def test_opacities_are_drawn_if_any(make):
    assert "opacity from 0 to 1: 1, 2, 3" in ArtifactView(make.artifact()).opacities
    assert ArtifactView(make.artifact(preview=Preview(histogram=(0, 0)))).opacities == ""
