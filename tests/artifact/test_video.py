from __future__ import annotations

from types import SimpleNamespace

import numpy
import pytest

from rocm3d.artifact import video
from rocm3d.artifact.artifact_report import InvalidArtifactError

NAMES = {"a.mp4": "MP4", "a.mov": "MP4", "a.mkv": "Matroska video", "a.avi": "AVI", "a.gif": "GIF"}
BLACK = numpy.zeros((48, 64, 3), dtype="u1")


@pytest.fixture
def inspect_video(write_video):
    return lambda name, frames: video.inspect(write_video(name, frames), NAMES[name])


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.gif"])
def test_a_black_video(inspect_video, name):
    report = inspect_video(name, [BLACK] * 12)

    assert report.problems == ["black: all 12 frames are black"]
    assert report.metrics["black_frames"] == 12


@pytest.mark.parametrize("name", ["a.mp4", "a.avi"])
def test_a_frozen_video(inspect_video, moving, name):
    report = inspect_video(name, [moving[3]] * 12)

    assert report.problems == ["frozen: all 12 frames show the same image"]
    assert report.metrics["still_frames"] == 11


def test_a_video_that_starts_black_is_fit(inspect_video, moving):
    report = inspect_video("a.mp4", [BLACK] * 6 + moving)

    assert (report.problems, report.metrics["black_frames"]) == ([], 6)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_cut_video(write_video, moving, name, share):
    path = write_video(name, moving)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    try:
        problems = video.inspect(path, NAMES[name]).problems
    except InvalidArtifactError as error:
        problems = [str(error)]
    assert problems[0].startswith(("truncated or damaged", "empty"))


def test_a_single_frame_is_whole(inspect_video, moving):
    assert inspect_video("a.gif", moving[:1]).problems == []


@pytest.mark.parametrize(("present", "short"), [(30, False), (29, False), (28, False), (27, True), (3, True)])
def test_a_frame_or_two_fewer_than_promised_are_none_missing(present, short):
    """Camera files declare more frames than decode if an edit list drops the first ones."""
    stream = SimpleNamespace(frames=30)
    container = SimpleNamespace(streams=SimpleNamespace(video=[stream]))

    assert video._is_truncated(present, 1.0, container) == short


def test_sound_alone_is_no_video(tmp_path):
    import av

    with av.open(str(tmp_path / "a.mkv"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(numpy.zeros((1, 1024), dtype="f4"), format="fltp", layout="mono")
        frame.rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())

    with pytest.raises(InvalidArtifactError, match="no video stream"):
        video.inspect(tmp_path / "a.mkv", "Matroska video")


def test_what_is_not_decoded_is_reported(inspect_video, moving, monkeypatch):
    monkeypatch.setattr(video, "_FRAMES", 5)
    report = inspect_video("a.mp4", moving)

    assert (report.metrics["frames"], report.problems) == (5, [])
    assert report.unread[0].startswith("frames after the first 5:")


@pytest.mark.parametrize("name", NAMES)
def test_a_video_is_measured(inspect_video, moving, name):
    report = inspect_video(name, moving)

    assert report.problems == []
    assert [report.metrics[key] for key in ("frames", "width", "height", "black_frames")] == [24, 64, 48, 0]
    assert report.metrics["seconds"] == pytest.approx(1, abs=0.05)
    assert report.picture
