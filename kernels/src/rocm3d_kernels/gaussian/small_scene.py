"""Rendering of small scenes, in which the CPU is slower than the GPU: memory and launches are planned once.

The length of the tile lists is guessed (tiles/slot_guess.py), so three kernels are queued before the CPU waits. Their
results share a few buffers, each far below 2 GiB because guessed lists are short. Tensors are views of them, on demand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.launching import PreparedLaunch, address, can_pass_addresses
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.projection import launch as projection
from rocm3d_kernels.projection.triton import RECORD, rocm3d_project_backward, rocm3d_project_forward
from rocm3d_kernels.raster.launch import CHUNK, MAX_INT16_SLOTS
from rocm3d_kernels.raster.triton import ABSOLUTE_SHAPE, SHAPE, rocm3d_raster_backward, rocm3d_raster_forward
from rocm3d_kernels.tiles import TileLists, tile_grid
from rocm3d_kernels.tiles.slot_guess import SlotGuess, check_slots
from rocm3d_kernels.tiles.triton import rocm3d_emit_tiles, rocm3d_sort_slots
from rocm3d_kernels.tuning import cached_until_override, tuned

MAX_CHANNELS = CHUNK
_FLOAT_BYTES, _ALIGNMENT = 4, 64  # bytes of a float32; every part begins at a multiple of so many of them


class Layout:
    """Named tensors, one after the other, in one float32 buffer."""

    def __init__(self, **parts: tuple[tuple[int, ...], torch.dtype]) -> None:
        self.size = 0
        self._parts: dict[str, tuple[int, tuple[int, ...], torch.dtype]] = {}
        for name, (shape, dtype) in parts.items():
            self._parts[name] = self.size, shape, dtype
            self.size += align_size(-(-math.prod(shape) * dtype.itemsize // _FLOAT_BYTES))
        self._byte_offsets = [start * _FLOAT_BYTES for start, _, _ in self._parts.values()]

    def addresses(self, memory: torch.Tensor) -> list[Any]:
        begin = memory.data_ptr()
        return [begin + offset for offset in self._byte_offsets]

    def tensors(self, memory: torch.Tensor) -> list[Any]:
        return [self.tensor(memory, name) for name in self._parts]

    def tensor(self, memory: torch.Tensor, name: str) -> torch.Tensor:
        start, shape, dtype = self._parts[name]
        if dtype != torch.float32:
            memory, start = memory.view(dtype), start * _FLOAT_BYTES // dtype.itemsize
        return memory[start : start + math.prod(shape)].view(shape)


def align_size(count: int) -> int:
    """Rounded up to the alignment."""
    return -(-count // _ALIGNMENT) * _ALIGNMENT


class Scene(NamedTuple):
    """Parameters that all renderings of a plan share."""

    options: RenderOptions
    guess: SlotGuess
    images: int
    cameras: int
    per_image: int  # Gaussians
    channels: int
    from_covars: bool
    needs_grad: bool
    device: torch.device

    @property
    def rows(self) -> int:
        return self.images * self.per_image

    @property
    def v_size(self) -> int:
        """Floats in the gradient of one shape: 6, with absgrad 8."""
        return ABSOLUTE_SHAPE if self.options.absgrad else SHAPE


class RenderPlan:
    """Buffer layouts and prepared launches for scenes with equal parameters."""

    def __init__(self, scene: Scene) -> None:
        guess, settings = scene.guess, scene.options.settings
        pixels = (scene.images, settings.height, settings.width)
        self.scene, self.image, self.alphas = scene, (*pixels, scene.channels), pixels
        self.grid = tile_grid(guess.choice, settings.width, settings.height)
        self.projected = Layout(
            records=((scene.images, scene.per_image, RECORD), torch.float32),
            radii=((scene.images, scene.per_image, 2), torch.int32),
            lists=((guess.tiles * guess.slots,), torch.int32),
        )
        self.pixel_state = Layout(
            through=(pixels, torch.float32),
            last=(pixels, torch.int16 if guess.slots <= MAX_INT16_SLOTS else torch.int32),
        )
        # The kernel writes gradients of colours directly after those of shapes.
        grad_count = scene.rows * (scene.v_size + scene.channels) if scene.needs_grad else 0
        self.zeros = Layout(
            longest=((1,), torch.int32),
            counters=((guess.tiles,), torch.int32),
            gradients=((grad_count,), torch.float32),
        )
        self.scratch = Layout(
            coarse=((scene.rows,), torch.int32),
            fine=((scene.rows,), torch.int32),
            keys=((guess.tiles * guess.slots,), torch.int64),
        )
        self.project, self.emit, self.sort = self._project_launch(), self._emit_launch(), self._sort_launch()

    def _project_launch(self) -> PreparedLaunch:
        scene, settings = self.scene, self.scene.options.settings
        parameters = tuned("projection", "project_forward", scene.device)
        numbers = (
            scene.per_image, scene.cameras, settings.width, settings.height,
            settings.eps2d, settings.near, settings.far, settings.radius_clip, align_size(scene.rows), self.zeros.size,
        )  # fmt: skip
        blocks = -(-scene.per_image // parameters["BLOCK"])
        return PreparedLaunch(
            rocm3d_project_forward, scene.device, (blocks, scene.images, 1), numbers,
            FROM_COVARS=scene.from_covars, HAS_OPACITIES=True, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", COARSE=projection.COARSE, FINE=projection.FINE, AHEAD=True, **parameters,
        )  # fmt: skip

    def _emit_launch(self) -> PreparedLaunch:
        scene, (side, tiles_x, tiles_y) = self.scene, self.grid
        parameters = tuned("tiles", "emit_tiles", scene.device)
        return PreparedLaunch(
            rocm3d_emit_tiles, scene.device, (-(-scene.rows // parameters["BLOCK"]), 1, 1),
            (scene.rows, scene.per_image, tiles_x, tiles_y, scene.guess.tiles, 1),
            ORDERED=False, SLOTS=scene.guess.slots, TILE=side, **parameters,
        )  # fmt: skip

    def _sort_launch(self) -> PreparedLaunch:
        device, guess = self.scene.device, self.scene.guess
        parameters = tuned("tiles", "sort_slots", device)
        return PreparedLaunch(rocm3d_sort_slots, device, (guess.tiles, 1, 1), SLOTS=guess.slots, **parameters)

    def raster_integers(self, colors: torch.Tensor) -> tuple[int, ...]:
        """Integer arguments of the forward and backward raster kernels."""
        settings, (_, tiles_x, tiles_y) = self.scene.options.settings, self.grid
        step = colors.stride(0) if colors.dim() == 3 else 0
        size = (settings.width, settings.height)
        return self.scene.per_image, step, *size, tiles_x, tiles_x * tiles_y, self.scene.channels

    def split_gradients(self, grads: torch.Tensor, *, by_image: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of shapes and of colours; `by_image`: each image has its own colours."""
        scene = self.scene
        split = scene.rows * scene.v_size
        v_shapes = grads[:split].view(scene.rows, scene.v_size)
        if scene.images == 1 and not by_image:
            return v_shapes, grads[split:].view(scene.per_image, scene.channels)
        v_colors = grads[split:].view(scene.images, scene.per_image, scene.channels)
        return v_shapes, v_colors if by_image else v_colors.sum(dim=0)


@cached_until_override
def cached_plan(*scene: Any) -> RenderPlan:
    return RenderPlan(Scene(*scene))


@cached_until_override
def _draw_launch(plan: RenderPlan, numbers: tuple[int, ...], row: int, has_background: bool) -> PreparedLaunch:
    scene, settings = plan.scene, plan.scene.options
    return PreparedLaunch(
        rocm3d_raster_forward, scene.device, (scene.guess.tiles, 1, 1), numbers,
        COLOR_ROW=row, D=scene.channels, HAS_BACKGROUND=has_background, HAS_MASKS=False, KEEP=scene.needs_grad,
        CAP=settings.cap, TILE=plan.grid[0], SLOTS=scene.guess.slots,
        **tuned("raster", "raster_forward", scene.device),
    )  # fmt: skip


@cached_until_override
def _draw_backward_launch(
    plan: RenderPlan, numbers: tuple[int, ...], row: int, has_background: bool, has_alphas: bool
) -> PreparedLaunch:
    scene = plan.scene
    return PreparedLaunch(
        rocm3d_raster_backward, scene.device, (scene.guess.tiles, 1, 1), (scene.rows, *numbers),
        COLOR_ROW=row, D=scene.channels, HAS_BACKGROUND=has_background, HAS_ALPHAS=has_alphas,
        ABSOLUTE=scene.options.absgrad, PER_PAIR=False, CAP=scene.options.cap, TILE=plan.grid[0],
        SLOTS=scene.guess.slots, **tuned("raster", "raster_backward", scene.device),
    )  # fmt: skip


@cached_until_override
def _project_backward_launch(plan: RenderPlan) -> PreparedLaunch:
    scene, settings = plan.scene, plan.scene.options.settings
    parameters = tuned("projection", "project_backward", scene.device)
    blocks, batches = -(-scene.per_image // parameters["BLOCK"]), scene.images // scene.cameras
    numbers = (
        scene.v_size, scene.v_size, 0, scene.per_image, scene.cameras, settings.width, settings.height, settings.eps2d,
    )  # fmt: skip
    return PreparedLaunch(
        rocm3d_project_backward, scene.device, (blocks, batches, 1), numbers,
        FROM_COVARS=scene.from_covars, HAS_OPACITIES=True, COMPENSATE=settings.compensate,
        ORTHO=settings.camera == "ortho", HAS_DEPTHS=False, NEED_VIEWMATS=False, SHAPES_AT=2, **parameters,
    )  # fmt: skip


class SmallSceneOutputs:
    """Projected Gaussians and tile lists of a rendering, as views that are made on access."""

    __slots__ = ("memory", "plan", "zeros")

    def __init__(self, plan: RenderPlan) -> None:
        self.plan = plan
        self.memory = torch.empty(plan.projected.size, device=plan.scene.device)
        self.zeros = torch.empty(plan.zeros.size, device=plan.scene.device)

    @property
    def records(self) -> torch.Tensor:
        """[images, N, 8]"""
        return self.plan.projected.tensor(self.memory, "records")

    @property
    def radii(self) -> torch.Tensor:
        """int32 [images, N, 2]"""
        return self.plan.projected.tensor(self.memory, "radii")

    @property
    def lists(self) -> TileLists:
        gaussians = self.plan.projected.tensor(self.memory, "lists")
        counters = self.plan.zeros.tensor(self.zeros, "counters")
        return TileLists(gaussians, counters, *self.plan.grid, self.plan.scene.guess.slots)


class SmallRendering:
    """One rendering with its state for backward."""

    __slots__ = ("_grads_are_zero", "_pixel_state", "colors", "origins", "outputs", "plan", "values")

    def __init__(self, plan: RenderPlan, gaussians: Gaussians) -> None:
        """Queues the kernels before rasterization: projection, pairs, sort."""
        self.plan, self.outputs, self._grads_are_zero = plan, SmallSceneOutputs(plan), plan.scene.needs_grad
        self.colors: Any = None
        self.values: torch.Tensor | None = None
        self.origins: torch.Tensor | None = None
        self._pixel_state: Any = None
        scratch = torch.empty(plan.scratch.size, device=plan.scene.device)
        run, args, arg = _launch_functions(plan.sort, gaussians)
        records, radii, lists = args(plan.projected, self.outputs.memory)
        longest, counters, _ = args(plan.zeros, self.outputs.zeros)
        coarse, fine, keys = args(plan.scratch, scratch)
        run(plan.project, *map(arg, gaussians), records, radii, coarse, None, None, arg(self.outputs.zeros))
        run(plan.emit, records, None, None, (coarse, fine)[plan.scene.guess.choice], keys, counters)
        run(plan.sort, keys, counters, lists, longest)

    @property
    def records(self) -> torch.Tensor:
        """[images, N, 8]"""
        return self.outputs.records

    @property
    def radii(self) -> torch.Tensor:
        """int32 [images, N, 2]"""
        return self.outputs.radii

    @property
    def transmittance(self) -> torch.Tensor:
        """Final transmittance T by pixel; only if the plan needs gradients."""
        return self.plan.pixel_state.tensor(self._pixel_state, "through")

    def has_enough_slots(self) -> bool:
        """Whether every tile list fits into its slots. The only point at which the CPU waits for the GPU."""
        scene, settings = self.plan.scene, self.plan.scene.options.settings
        longest = int(self.plan.zeros.tensor(self.outputs.zeros, "longest").item())
        return check_slots(
            longest, scene.guess, scene.images, scene.per_image, (settings.width, settings.height), scene.device
        )

    def draw(self, backgrounds: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Images [images, height, width, D] and alphas [images, height, width]."""
        plan, colors, device = self.plan, self.colors, self.plan.scene.device
        image, alphas = torch.empty(plan.image, device=device), torch.empty(plan.alphas, device=device)
        if plan.scene.needs_grad:
            self._pixel_state = torch.empty(plan.pixel_state.size, device=device)
        start = _draw_launch(plan, plan.raster_integers(colors), colors.stride(-2), backgrounds is not None)
        run, args, arg = _launch_functions(start, (colors, backgrounds))
        records, _, lists = args(plan.projected, self.outputs.memory)
        counters = args(plan.zeros, self.outputs.zeros)[1]
        T, last = (None, None) if self._pixel_state is None else args(plan.pixel_state, self._pixel_state)
        run(
            start, records, arg(colors), lists, counters, arg(backgrounds), None, arg(image), arg(alphas),
            T, last,
        )  # fmt: skip
        return image, alphas

    def draw_backward(
        self,
        backgrounds: torch.Tensor | None,
        v_image: torch.Tensor | None,
        v_alphas: torch.Tensor | None,
        *,
        retain_graph: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of the shapes, [rows, 6 or 8] in the layout of the kernel, and of the colours.

        Without `retain_graph` saved tensors are freed before backward needs more memory.
        """
        plan, colors = self.plan, self.colors
        v_image = torch.zeros(plan.image, device=plan.scene.device) if v_image is None else v_image.contiguous()
        v_alphas = None if v_alphas is None else v_alphas.contiguous()
        grads = plan.zeros.tensor(self.outputs.zeros, "gradients")
        grads, self._grads_are_zero = grads if self._grads_are_zero else torch.zeros_like(grads), False
        start = _draw_backward_launch(
            plan, plan.raster_integers(colors), colors.stride(-2), backgrounds is not None, v_alphas is not None
        )
        run, args, arg = _launch_functions(start, (colors, backgrounds, v_image, v_alphas))
        records, _, lists = args(plan.projected, self.outputs.memory)
        counters = args(plan.zeros, self.outputs.zeros)[1]
        run(
            start, records, arg(colors), lists, counters, arg(backgrounds), *args(plan.pixel_state, self._pixel_state),
            arg(v_image), arg(v_alphas), arg(grads),
        )  # fmt: skip
        if not retain_graph:
            self._pixel_state = self.colors = None
        return plan.split_gradients(grads, by_image=colors.dim() == 3)

    def project_backward(
        self,
        gaussians: Gaussians,
        settings: CameraSettings,
        v_shapes: torch.Tensor,
        v_depths: torch.Tensor | None,
        *,
        needs_viewmats: bool,
    ) -> tuple[torch.Tensor | None, ...]:
        """Gradients of means, covars, quats, scales, opacities and viewmats."""
        if needs_viewmats or v_depths is not None:
            v_parts = (v_shapes, v_shapes, v_depths)
            return projection.backward(
                gaussians, settings, self.radii, v_parts, needs_viewmats=needs_viewmats, shapes_offset=2
            )
        start = _project_backward_launch(self.plan)
        grads = [None if one is None else torch.empty_like(one) for one in gaussians[:5]]
        run, args, arg = _launch_functions(start, gaussians)
        radii, v_shapes_arg = args(self.plan.projected, self.outputs.memory)[1], arg(v_shapes)
        run(start, *map(arg, gaussians), radii, v_shapes_arg, v_shapes_arg, None, *map(arg, grads), None)
        return (*grads, None)


def _launch_functions(start: PreparedLaunch, tensors: Sequence[torch.Tensor | None]) -> tuple[Any, Any, Any]:
    """Functions that launch and that make arguments: with addresses if possible, else with tensors."""
    if start.is_ready and can_pass_addresses(start.device, tensors):
        return PreparedLaunch.launch_addresses, Layout.addresses, address
    return PreparedLaunch.__call__, Layout.tensors, _identity


def _identity(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return tensor
