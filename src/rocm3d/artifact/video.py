"""Checks videos: all frames decode, and they are neither black nor frozen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError
from rocm3d.artifact.image import BLACK_LEVEL, thumbnail

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

# Frames are scaled down to this side: enough to detect black and frozen videos, and it averages codec noise out.
_FRAME_SIDE = 48
_STILL_LEVEL = 3
# Even a complete file may lack a frame or two: edit lists drop them.
_MIN_DURATION_SHARE, _MIN_FRAME_SHARE, _SPARE_FRAMES = 0.8, 0.95, 2
_FRAMES = 200_000
_MAX_SECONDS = 60.0
# The demuxer is fixed, so that a file cannot select one that opens other files or URLs.
_DEMUXERS = {"MP4": "mp4", "Matroska video": "matroska", "AVI": "avi", "GIF": "gif"}


def inspect(path: Path, format_name: str) -> ArtifactReport:
    """Decode all frames up to the time limit; the frames after it are reported as not read."""
    import av

    try:
        with av.open(str(path.resolve()), format=_DEMUXERS[format_name]) as container:
            if not container.streams.video:
                raise InvalidArtifactError("no video stream")
            return _decode_report(container)
    except av.error.FFmpegError as error:
        raise InvalidArtifactError(f"truncated or damaged: {error.strerror}") from error


def _decode_report(container: Any) -> ArtifactReport:
    import av

    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    statistics, is_complete, is_damaged = _FrameStatistics(), True, False
    deadline = time.monotonic() + _MAX_SECONDS
    try:
        for frame in container.decode(stream):
            is_complete = statistics.frames < _FRAMES and time.monotonic() <= deadline
            if not is_complete:
                break
            statistics.add(frame)
    except av.error.FFmpegError:
        is_damaged = True
    report = statistics.report()
    if not is_complete:
        limit = f"decoding stops after {_FRAMES} frames or {_MAX_SECONDS:.0f} s"
        report.unread.append(f"frames after the first {statistics.frames}: {limit}")
    elif statistics.frames:
        is_cut = is_damaged or _is_truncated(statistics.frames, report.metrics["seconds"], container)
        expected = f" of {stream.frames}" if stream.frames else ""
        report.add_problem_if(is_cut, f"truncated or damaged: {statistics.frames}{expected} frames can be decoded")
    return report


def _is_truncated(frames: int, seconds: float, container: Any) -> bool:
    """Whether many of the declared frames are missing; if no count is declared, much of the declared duration.

    The duration of the container counts only if it holds nothing but this stream.
    """
    stream, expected_seconds = container.streams.video[0], 0.0
    if stream.frames:
        return bool(stream.frames - frames > max(_SPARE_FRAMES, (1 - _MIN_FRAME_SHARE) * stream.frames))
    if stream.duration:
        expected_seconds = float(stream.duration * stream.time_base)
    elif container.duration and len(container.streams) == 1:
        expected_seconds = container.duration / 1e6
    return seconds < expected_seconds * _MIN_DURATION_SHARE


class _FrameStatistics:
    """Running statistics over all frames."""

    def __init__(self) -> None:
        self.frames = self.black = self.still = 0
        self.largest_change, self.brightness_sum, self.picture = 0, 0.0, ""
        self.start = self.end = self.step = 0.0
        self.width = self.height = 0
        self.first: Array | None = None
        self.last: Array | None = None

    def add(self, frame: Any) -> None:
        small = frame.reformat(width=_FRAME_SIDE, height=_FRAME_SIDE, format="gray").to_ndarray().astype("int16")
        self.black += int(small.max()) <= BLACK_LEVEL
        self.brightness_sum += float(small.mean())
        if self.last is not None and self.first is not None:
            self.still += int(abs(small - self.last).max()) <= _STILL_LEVEL
            self.largest_change = max(self.largest_change, int(abs(small - self.first).max()))
        else:
            self.first, self.width, self.height = small, frame.width, frame.height
        if not self.picture and int(small.max()) > BLACK_LEVEL:
            self.picture = thumbnail(frame.to_image())
        if frame.time is not None:
            self.start = frame.time if not self.frames else self.start
            self.step = frame.time - self.end if self.frames else 0.0
            self.end = frame.time
        self.last = small
        self.frames += 1

    def report(self) -> ArtifactReport:
        metrics = {
            "frames": self.frames,
            "seconds": max(0.0, self.end - self.start + max(0.0, self.step)),
            "width": self.width,
            "height": self.height,
            "black_frames": self.black,
            "still_frames": self.still,
            "mean": self.brightness_sum / self.frames / 255 if self.frames else 0.0,
        }
        report = ArtifactReport("video", metrics, picture=self.picture)
        report.add_problem_if(not self.frames, "empty: no frame can be decoded")
        if self.frames and self.black == self.frames:
            report.problems.append(f"black: all {self.frames} frames are black")
        elif self.frames > 1 and self.largest_change <= _STILL_LEVEL:
            report.problems.append(f"frozen: all {self.frames} frames show the same image")
        return report
