"""Checks videos: all frames decode, and they are neither black nor frozen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.image import BLACK, thumbnail
from rocm3d.artifact.sight import Sight, Unfit

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

# Frames are scaled down to this side: enough to detect black and frozen videos, and it averages codec noise out.
_SIDE = 48
_STILL = 3
# Even a complete file may lack a frame or two: edit lists drop them.
_ENOUGH, _MOST_FRAMES, _SPARE = 0.8, 0.95, 2
_FRAMES = 200_000
_SECONDS = 60.0
# The demuxer is fixed, so that a file cannot select one that opens other files or URLs.
_DEMUXERS = {"MP4": "mp4", "Matroska video": "matroska", "AVI": "avi", "GIF": "gif"}


def look(path: Path, form: str) -> Sight:
    """Decode all frames up to the time limit; the frames after it are reported as not read."""
    import av

    try:
        with av.open(str(path.resolve()), format=_DEMUXERS[form]) as container:
            if not container.streams.video:
                raise Unfit("no video stream")
            return _watched(container)
    except av.error.FFmpegError as error:
        raise Unfit(f"truncated or damaged: {error.strerror}") from error


def _watched(container: Any) -> Sight:
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    seen, ended = _Seen(), _decode(container, stream)
    for frame in ended.frames:
        seen.add(frame)
    sight = seen.sight()
    if ended.limit:
        sight.unread.append(f"frames after the first {seen.frames}: {ended.limit}")
    elif seen.frames:
        cut = ended.damage or _is_short(seen.frames, sight.metrics["seconds"], container)
        promised = f" of {stream.frames}" if stream.frames else ""
        sight.object_to(cut, f"truncated or damaged: {seen.frames}{promised} frames can be decoded")
    return sight


def _is_short(frames: int, seconds: float, container: Any) -> bool:
    """Whether many of the declared frames are missing; if no count is declared, much of the declared duration.

    The duration of the container counts only if it holds nothing but this stream.
    """
    stream, promised = container.streams.video[0], 0.0
    if stream.frames:
        return bool(stream.frames - frames > max(_SPARE, (1 - _MOST_FRAMES) * stream.frames))
    if stream.duration:
        promised = float(stream.duration * stream.time_base)
    elif container.duration and len(container.streams) == 1:
        promised = container.duration / 1e6
    return seconds < promised * _ENOUGH


class _decode:
    """Yields frames. Afterwards `limit` or `damage` says why it stopped early; both are empty at a regular end."""

    def __init__(self, container: Any, stream: Any) -> None:
        self.container, self.stream = container, stream
        self.limit, self.damage = "", ""

    @property
    def frames(self) -> Any:
        import av

        until = time.monotonic() + _SECONDS
        try:
            for number, frame in enumerate(self.container.decode(self.stream)):
                if number >= _FRAMES or time.monotonic() > until:
                    self.limit = f"decoding stops after {_FRAMES} frames or {_SECONDS:.0f} s"
                    return
                yield frame
        except av.error.FFmpegError as error:
            self.damage = str(error.strerror)


class _Seen:
    """Running statistics over all frames."""

    def __init__(self) -> None:
        self.frames = self.black = self.still = 0
        self.moved, self.bright, self.picture = 0, 0.0, ""
        self.start = self.end = self.step = 0.0
        self.width = self.height = 0
        self.first: Array | None = None
        self.last: Array | None = None

    def add(self, frame: Any) -> None:
        small = frame.reformat(width=_SIDE, height=_SIDE, format="gray").to_ndarray().astype("int16")
        self.black += int(small.max()) <= BLACK
        self.bright += float(small.mean())
        if self.last is not None and self.first is not None:
            self.still += int(abs(small - self.last).max()) <= _STILL
            self.moved = max(self.moved, int(abs(small - self.first).max()))
        else:
            self.first, self.width, self.height = small, frame.width, frame.height
        if not self.picture and int(small.max()) > BLACK:
            self.picture = thumbnail(frame.to_image())
        if frame.time is not None:
            self.start = frame.time if not self.frames else self.start
            self.step = frame.time - self.end if self.frames else 0.0
            self.end = frame.time
        self.last = small
        self.frames += 1

    def sight(self) -> Sight:
        sight = Sight("video", picture=self.picture)
        length = max(0.0, self.end - self.start + max(0.0, self.step))
        sight.metrics |= {"frames": self.frames, "seconds": length, "width": self.width, "height": self.height}
        sight.metrics |= {"black_frames": self.black, "still_frames": self.still}
        sight.metrics["mean"] = self.bright / self.frames / 255 if self.frames else 0.0
        sight.object_to(not self.frames, "empty: no frame can be decoded")
        if self.frames and self.black == self.frames:
            sight.problems.append(f"black: all {self.frames} frames are black")
        elif self.frames > 1 and self.moved <= _STILL:
            sight.problems.append(f"frozen: all {self.frames} frames show the same image")
        return sight
