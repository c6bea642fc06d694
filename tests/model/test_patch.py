from __future__ import annotations

import json

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.patch import Patch

EMPTY = Patch(repository="r", folder="rocm-port", dry_run=False, changes=(), refused=(), left=())


def test_an_unknown_key_is_refused():
    with pytest.raises(UserError, match="unscanned"):
        Patch.from_json(json.dumps(json.loads(EMPTY.to_json()) | {"unscanned": []}), "patch.json")


def test_unscanned_code_of_older_documents_is_ignored():
    older = json.loads(EMPTY.to_json()) | {"unseen": [{"name": "libs/x"}], "schema_version": "1.1"}

    assert Patch.from_json(json.dumps(older), "patch.json").changes == ()
