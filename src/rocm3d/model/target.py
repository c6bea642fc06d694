"""A target: one gfx architecture and its products."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Gfx, Identifier, Range


class Product(Record):
    """A card or APU. `names` lists other spellings, compared without case and punctuation."""

    id: Identifier
    title: str
    names: tuple[str, ...] = ()
    vram_gb: int | None = None  # None: shares the system's memory


class Target(Fact):
    """A file of knowledge/targets/, named after its gfx id."""

    gfx: Gfx
    title: str
    architecture: Literal["cdna", "rdna", "gcn"]
    products: tuple[Product, ...] = Field(min_length=1)
    default_product: Identifier
    wave_size: Literal[32, 64]
    fp8: Literal["none", "fnuz", "ocp"]
    matrix: Literal["none", "mfma", "wmma"]
    lds_kib: int
    rocm: Range
    override: str = ""
    hazards: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_default_product(self) -> Target:
        if self.default_product not in {product.id for product in self.products}:
            raise ValueError(f"default_product {self.default_product!r} is not in products")
        return self

    def product(self, product_id: str) -> Product:
        """The product with this id, which must exist."""
        return next(product for product in self.products if product.id == product_id)


class Gpu(Record):
    """The GPU of a plan: one resolved product. `--gpu gfx942` and `--gpu mi300x` resolve to the same value."""

    gfx: Gfx
    product: Identifier
    title: str
    wave_size: Literal[32, 64]
    vram_gb: int | None
