from __future__ import annotations

import pytest

from rocm3d.model.base import Document
from rocm3d.render.forms import closing, parts


@pytest.mark.parametrize("form", [parts, closing])
def test_a_document_without_a_form_is_a_bug_and_says_which(form):
    with pytest.raises(TypeError, match="Document"):
        form(Document())
