import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_gallery_shows_every_picture_of_both_models():
    shown = re.findall(r"!\[\]\((gallery/\w+\.png)\)", (DOCS / "gallery.md").read_text(encoding="utf-8"))
    pictures = (
        "interventional_effects",
        "conditional_densities",
        "importance_matrices",
        "witnesses",
        "robustness_tradeoff",
        "convergence",
    )
    assert sorted(shown) == sorted(
        f"gallery/{model}_{name}.png" for model in ("fragile", "robust") for name in pictures
    )
    assert sorted(shown) == sorted(f"gallery/{path.name}" for path in (DOCS / "gallery").iterdir())
