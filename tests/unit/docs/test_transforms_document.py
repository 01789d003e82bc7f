"""docs/transforms.md is what the transforms declare."""

from pathlib import Path

from transform_docs import transforms_document

DOCUMENT = Path(__file__).parents[3] / "docs/transforms.md"


def test_lists_the_keys_as_they_are_declared() -> None:
    assert DOCUMENT.read_text() == transforms_document(), (
        "write it anew: PYTHONPATH=tests/support python -c "
        '"import transform_docs as d; print(d.transforms_document(), end=str())" '
        "> docs/transforms.md"
    )
