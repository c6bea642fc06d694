"""A rule: what its detector searches for, its texts, and its fix."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.code import Code
from rocm3d.model.recipe import Recipe, RuleFix

Parameter = str | bool | list[str] | dict[str, str]


class RuleMatcher(Record):
    """For a rule without a detector: a module of scan/matchers/, which explains its parameters.

    `also`: further matchers of the same rule, for files of other kinds.
    """

    kind: str
    parameters: dict[str, Parameter] = Field(default={})
    also: tuple[RuleMatcher, ...] = ()

    @property
    def parts(self) -> tuple[RuleMatcher, ...]:
        """This one and the further ones."""
        return self, *self.also


class Rule(Code):
    """knowledge/rules/<group>/<rule>/rule.toml. Its cases/ are the tests of the rule and of its fix."""

    matcher: RuleMatcher | None = None
    fix: RuleFix | None = None

    @property
    def fix_id(self) -> str:
        return self.fix.id if self.fix else ""

    @property
    def recipe(self) -> Recipe | None:
        """The fix with the code and the family that it has from the rule."""
        if self.fix is None:
            return None
        values = {name: getattr(self.fix, name) for name in RuleFix.model_fields}
        return Recipe(**{**values, "code": self.code, "family": self.fix.family or self.family})
