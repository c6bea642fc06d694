"""Rendering of small scenes, in which the CPU is slower than the GPU: memory and launches are planned once.

The length of the tile lists is guessed (tiles/ahead.py), so three kernels are queued before the CPU waits. Their
results share a few buffers, each far below 2 GiB because guessed lists are short. Tensors are views of them, on demand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.launching import Start, address, usual
from rocm3d_kernels.projection import Gaussians, Settings
from rocm3d_kernels.projection import launch as projection
from rocm3d_kernels.projection.triton import RECORD, rocm3d_project_backward, rocm3d_project_forward
from rocm3d_kernels.raster.launch import CHUNK, SHORT
from rocm3d_kernels.raster.triton import ABSOLUTE_SHAPE, SHAPE, rocm3d_raster_backward, rocm3d_raster_forward
from rocm3d_kernels.tiles import Lists, grid
from rocm3d_kernels.tiles.ahead import Known, enough
from rocm3d_kernels.tiles.triton import rocm3d_emit_tiles, rocm3d_sort_slots
from rocm3d_kernels.tuning import kept, tuned

MOST_CHANNELS = CHUNK
_NUMBER, _APART = 4, 64  # bytes of a float32; every part begins at a multiple of so many of them


class Layout:
    """Named tensors, one after the other, in one float32 buffer."""

    def __init__(self, **parts: tuple[tuple[int, ...], torch.dtype]) -> None:
        self.size = 0
        self._parts: dict[str, tuple[int, tuple[int, ...], torch.dtype]] = {}
        for name, (shape, dtype) in parts.items():
            self._parts[name] = self.size, shape, dtype
            self.size += apart(-(-math.prod(shape) * dtype.itemsize // _NUMBER))
        self._places = [at * _NUMBER for at, _, _ in self._parts.values()]

    def addresses(self, memory: torch.Tensor) -> list[Any]:
        begin = memory.data_ptr()
        return [begin + place for place in self._places]

    def tensors(self, memory: torch.Tensor) -> list[Any]:
        return [self.tensor(memory, name) for name in self._parts]

    def tensor(self, memory: torch.Tensor, name: str) -> torch.Tensor:
        at, shape, dtype = self._parts[name]
        if dtype != torch.float32:
            memory, at = memory.view(dtype), at * _NUMBER // dtype.itemsize
        return memory[at : at + math.prod(shape)].view(shape)


def apart(numbers: int) -> int:
    """Rounded up to the alignment."""
    return -(-numbers // _APART) * _APART


class Scene(NamedTuple):
    """Parameters that all renderings of a plan share."""

    options: Options
    known: Known
    images: int
    cameras: int
    per_image: int  # Gaussians
    channels: int
    from_covars: bool
    learns: bool
    device: torch.device

    @property
    def rows(self) -> int:
        return self.images * self.per_image

    @property
    def wide(self) -> int:
        """Floats in the gradient of one shape: 6, with absgrad 8."""
        return ABSOLUTE_SHAPE if self.options.absgrad else SHAPE


class Plan:
    """Buffer layouts and prepared launches for scenes with equal parameters."""

    def __init__(self, scene: Scene) -> None:
        known, settings = scene.known, scene.options.settings
        pixels = (scene.images, settings.height, settings.width)
        self.scene, self.image, self.alphas = scene, (*pixels, scene.channels), pixels
        self.grid = grid(known.choice, settings.width, settings.height)
        self.seen = Layout(
            records=((scene.images, scene.per_image, RECORD), torch.float32),
            radii=((scene.images, scene.per_image, 2), torch.int32),
            lists=((known.tiles * known.slots,), torch.int32),
        )
        self.light = Layout(
            through=(pixels, torch.float32), last=(pixels, torch.int16 if known.slots <= SHORT else torch.int32)
        )
        # The kernel writes gradients of colours directly after those of shapes.
        numbers = scene.rows * (scene.wide + scene.channels) if scene.learns else 0
        self.zeros = Layout(
            longest=((1,), torch.int32), counters=((known.tiles,), torch.int32), gradients=((numbers,), torch.float32)
        )
        self.passing = Layout(
            coarse=((scene.rows,), torch.int32),
            fine=((scene.rows,), torch.int32),
            keys=((known.tiles * known.slots,), torch.int64),
        )
        self.project, self.emit, self.sort = self._project(), self._emit(), self._sort()

    def _project(self) -> Start:
        scene, settings = self.scene, self.scene.options.settings
        parameters = tuned("projection", "project_forward", scene.device)
        numbers = (
            scene.per_image, scene.cameras, settings.width, settings.height,
            settings.eps2d, settings.near, settings.far, settings.radius_clip, apart(scene.rows), self.zeros.size,
        )  # fmt: skip
        blocks = -(-scene.per_image // parameters["BLOCK"])
        return Start(
            rocm3d_project_forward, scene.device, (blocks, scene.images, 1), numbers,
            FROM_COVARS=scene.from_covars, HAS_OPACITIES=True, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", COARSE=projection.COARSE, FINE=projection.FINE, AHEAD=True, **parameters,
        )  # fmt: skip

    def _emit(self) -> Start:
        scene, (side, tiles_x, tiles_y) = self.scene, self.grid
        parameters = tuned("tiles", "emit_tiles", scene.device)
        return Start(
            rocm3d_emit_tiles, scene.device, (-(-scene.rows // parameters["BLOCK"]), 1, 1),
            (scene.rows, scene.per_image, tiles_x, tiles_y, scene.known.tiles, 1),
            ORDERED=False, SLOTS=scene.known.slots, TILE=side, **parameters,
        )  # fmt: skip

    def _sort(self) -> Start:
        device, known = self.scene.device, self.scene.known
        parameters = tuned("tiles", "sort_slots", device)
        return Start(rocm3d_sort_slots, device, (known.tiles, 1, 1), SLOTS=known.slots, **parameters)

    def steps(self, colors: torch.Tensor) -> tuple[int, ...]:
        """Integer arguments of the forward and backward raster kernels."""
        settings, (_, tiles_x, tiles_y) = self.scene.options.settings, self.grid
        step = colors.stride(0) if colors.dim() == 3 else 0
        size = (settings.width, settings.height)
        return self.scene.per_image, step, *size, tiles_x, tiles_x * tiles_y, self.scene.channels

    def cut(self, sums: torch.Tensor, *, by_image: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of shapes and of colours; `by_image`: each image has its own colours."""
        scene = self.scene
        place = scene.rows * scene.wide
        shapes = sums[:place].view(scene.rows, scene.wide)
        if scene.images == 1 and not by_image:
            return shapes, sums[place:].view(scene.per_image, scene.channels)
        of_colors = sums[place:].view(scene.images, scene.per_image, scene.channels)
        return shapes, of_colors if by_image else of_colors.sum(dim=0)


@kept
def planned(*scene: Any) -> Plan:
    return Plan(Scene(*scene))


@kept
def _drawing(plan: Plan, numbers: tuple[int, ...], row: int, has_background: bool) -> Start:
    scene, settings = plan.scene, plan.scene.options
    return Start(
        rocm3d_raster_forward, scene.device, (scene.known.tiles, 1, 1), numbers,
        COLOR_ROW=row, D=scene.channels, HAS_BACKGROUND=has_background, HAS_MASKS=False, KEEP=scene.learns,
        CAP=settings.cap, TILE=plan.grid[0], SLOTS=scene.known.slots,
        **tuned("raster", "raster_forward", scene.device),
    )  # fmt: skip


@kept
def _drawing_back(plan: Plan, numbers: tuple[int, ...], row: int, has_background: bool, has_alphas: bool) -> Start:
    scene = plan.scene
    return Start(
        rocm3d_raster_backward, scene.device, (scene.known.tiles, 1, 1), (scene.rows, *numbers),
        COLOR_ROW=row, D=scene.channels, HAS_BACKGROUND=has_background, HAS_ALPHAS=has_alphas,
        ABSOLUTE=scene.options.absgrad, PER_PAIR=False, CAP=scene.options.cap, TILE=plan.grid[0],
        SLOTS=scene.known.slots, **tuned("raster", "raster_backward", scene.device),
    )  # fmt: skip


@kept
def _projecting_back(plan: Plan) -> Start:
    scene, settings = plan.scene, plan.scene.options.settings
    parameters = tuned("projection", "project_backward", scene.device)
    blocks, batches = -(-scene.per_image // parameters["BLOCK"]), scene.images // scene.cameras
    numbers = (
        scene.wide, scene.wide, 0, scene.per_image, scene.cameras, settings.width, settings.height, settings.eps2d,
    )  # fmt: skip
    return Start(
        rocm3d_project_backward, scene.device, (blocks, batches, 1), numbers,
        FROM_COVARS=scene.from_covars, HAS_OPACITIES=True, COMPENSATE=settings.compensate,
        ORTHO=settings.camera == "ortho", HAS_DEPTHS=False, NEED_VIEWMATS=False, SHAPES_AT=2, **parameters,
    )  # fmt: skip


class Told:
    """Projected Gaussians and tile lists of a rendering, as views that are made on access."""

    __slots__ = ("memory", "plan", "zeros")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.memory = torch.empty(plan.seen.size, device=plan.scene.device)
        self.zeros = torch.empty(plan.zeros.size, device=plan.scene.device)

    @property
    def records(self) -> torch.Tensor:
        """[images, N, 8]"""
        return self.plan.seen.tensor(self.memory, "records")

    @property
    def radii(self) -> torch.Tensor:
        """int32 [images, N, 2]"""
        return self.plan.seen.tensor(self.memory, "radii")

    @property
    def lists(self) -> Lists:
        gaussians = self.plan.seen.tensor(self.memory, "lists")
        counters = self.plan.zeros.tensor(self.zeros, "counters")
        return Lists(gaussians, counters, *self.plan.grid, self.plan.scene.known.slots)


class Small:
    """One rendering with its state for backward."""

    __slots__ = ("_clean", "_light", "colors", "origins", "plan", "told", "values")

    def __init__(self, plan: Plan, gaussians: Gaussians) -> None:
        """Queues the kernels before rasterization: projection, pairs, sort."""
        self.plan, self.told, self._clean = plan, Told(plan), plan.scene.learns
        self.colors: Any = None
        self.values: torch.Tensor | None = None
        self.origins: torch.Tensor | None = None
        self._light: Any = None
        passing = torch.empty(plan.passing.size, device=plan.scene.device)
        go, parts, where = _way(plan.sort, gaussians)
        records, radii, lists = parts(plan.seen, self.told.memory)
        longest, counters, _ = parts(plan.zeros, self.told.zeros)
        coarse, fine, keys = parts(plan.passing, passing)
        go(plan.project, *map(where, gaussians), records, radii, coarse, None, None, where(self.told.zeros))
        go(plan.emit, records, None, None, (coarse, fine)[plan.scene.known.choice], keys, counters)
        go(plan.sort, keys, counters, lists, longest)

    @property
    def records(self) -> torch.Tensor:
        """[images, N, 8]"""
        return self.told.records

    @property
    def radii(self) -> torch.Tensor:
        """int32 [images, N, 2]"""
        return self.told.radii

    @property
    def through(self) -> torch.Tensor:
        """Final transmittance T by pixel; only if the plan needs gradients."""
        return self.plan.light.tensor(self._light, "through")

    def fits(self) -> bool:
        """Whether every tile list fits into its slots. The only point at which the CPU waits for the GPU."""
        scene, settings = self.plan.scene, self.plan.scene.options.settings
        longest = int(self.plan.zeros.tensor(self.told.zeros, "longest").item())
        return enough(
            longest, scene.known, scene.images, scene.per_image, (settings.width, settings.height), scene.device
        )

    def draw(self, backgrounds: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Images [images, height, width, D] and alphas [images, height, width]."""
        plan, colors, device = self.plan, self.colors, self.plan.scene.device
        image, alphas = torch.empty(plan.image, device=device), torch.empty(plan.alphas, device=device)
        if plan.scene.learns:
            self._light = torch.empty(plan.light.size, device=device)
        start = _drawing(plan, plan.steps(colors), colors.stride(-2), backgrounds is not None)
        go, parts, where = _way(start, (colors, backgrounds))
        records, _, lists = parts(plan.seen, self.told.memory)
        counters = parts(plan.zeros, self.told.zeros)[1]
        through, last = (None, None) if self._light is None else parts(plan.light, self._light)
        go(
            start, records, where(colors), lists, counters, where(backgrounds), None, where(image), where(alphas),
            through, last,
        )  # fmt: skip
        return image, alphas

    def draw_back(
        self,
        backgrounds: torch.Tensor | None,
        given: torch.Tensor | None,
        given_alphas: torch.Tensor | None,
        *,
        again: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of the shapes, [rows, 6 or 8] in the layout of the kernel, and of the colours.

        Without `retain_graph` saved tensors are freed before backward needs more memory.
        """
        plan, colors = self.plan, self.colors
        given = torch.zeros(plan.image, device=plan.scene.device) if given is None else given.contiguous()
        given_alphas = None if given_alphas is None else given_alphas.contiguous()
        sums = plan.zeros.tensor(self.told.zeros, "gradients")
        sums, self._clean = sums if self._clean else torch.zeros_like(sums), False
        start = _drawing_back(
            plan, plan.steps(colors), colors.stride(-2), backgrounds is not None, given_alphas is not None
        )
        go, parts, where = _way(start, (colors, backgrounds, given, given_alphas))
        records, _, lists = parts(plan.seen, self.told.memory)
        counters = parts(plan.zeros, self.told.zeros)[1]
        go(
            start, records, where(colors), lists, counters, where(backgrounds), *parts(plan.light, self._light),
            where(given), where(given_alphas), where(sums),
        )  # fmt: skip
        if not again:
            self._light = self.colors = None
        return plan.cut(sums, by_image=colors.dim() == 3)

    def project_back(
        self,
        gaussians: Gaussians,
        settings: Settings,
        shapes: torch.Tensor,
        of_depths: torch.Tensor | None,
        *,
        of_views: bool,
    ) -> tuple[torch.Tensor | None, ...]:
        """Gradients of means, covars, quats, scales, opacities and viewmats."""
        if of_views or of_depths is not None:
            given = (shapes, shapes, of_depths)
            return projection.backward(gaussians, settings, self.radii, given, of_views=of_views, shapes_at=2)
        start = _projecting_back(self.plan)
        to = [None if one is None else torch.empty_like(one) for one in gaussians[:5]]
        go, parts, where = _way(start, gaussians)
        radii, of_shapes = parts(self.plan.seen, self.told.memory)[1], where(shapes)
        go(start, *map(where, gaussians), radii, of_shapes, of_shapes, None, *map(where, to), None)
        return (*to, None)


def _way(start: Start, given: Sequence[torch.Tensor | None]) -> tuple[Any, Any, Any]:
    """Functions that launch and that make arguments: with addresses if possible, else with tensors."""
    if start.ready and usual(start.device, given):
        return Start.at, Layout.addresses, address
    return Start.__call__, Layout.tensors, _itself


def _itself(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return tensor
