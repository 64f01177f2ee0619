"""Pictures of models, made small enough to stand in a page, within a budget of bytes."""

from __future__ import annotations

import base64
import io
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif"})
# Of what evaluations drew, and of disentanglement_lib's visualisers.
_DRAWN, _VISUALIZED = "artifacts", "visualizations"
_WITHOUT_PICTURES = frozenset({"tfhub", "tf_checkpoint", "results", "metrics", "failed"})
# Taller and wider pictures are scaled down, keeping their proportions.
_LARGEST = (900, 1300)
# Bytes that surround a picture in the page, names included.
_MARKUP = 500


@dataclass
class Budget:
    """Bytes that may still be spent on a page."""

    left: int

    def take(self, size: int) -> bool:
        """Spend `size` bytes if there are as many left."""
        if size > self.left:
            return False
        self.left -= size
        return True


@dataclass
class Picture:
    """A picture of a model.

    Attributes:
        path: of the file.
        place: the same, relative to the model's folder.
        uri: the picture itself as a data URI; empty where it is only linked to.
        width, height: of what `uri` shows, in pixels.
        animated: whether the file moves; `uri` is a still from its middle.
        problem: why it cannot be shown; empty if it can.
    """

    path: Path
    place: Path
    uri: str = ""
    width: int = 0
    height: int = 0
    animated: bool = False
    problem: str = ""

    @property
    def name(self) -> str:
        return self.place.as_posix()

    @property
    def drawn(self) -> bool:
        """Whether it is of an evaluation."""
        return _DRAWN in self.place.parts


@dataclass(frozen=True)
class Album:
    """The pictures of one model, those of evaluations before those of disentanglement_lib's visualisers."""

    pictures: list[Picture]

    @property
    def left_out(self) -> int:
        return sum(not picture.uri for picture in self.pictures)


def find_pictures(folder: Path) -> Album:
    """Find the pictures below ``artifacts`` and ``visualizations`` in a model's folder."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _WITHOUT_PICTURES and not _hidden(name))
        parts = Path(place).relative_to(folder).parts
        if _DRAWN not in parts and _VISUALIZED not in parts:
            continue
        found += [Path(place, name) for name in sorted(files) if Path(name).suffix.lower() in _SUFFIXES]
    pictures = [Picture(path, path.relative_to(folder)) for path in found]
    return Album(sorted(pictures, key=lambda picture: (not picture.drawn, picture.place)))


def _hidden(name: str) -> bool:
    return name.startswith(".") or name.endswith(".partial")


def inline(albums: list[Album], budget: Budget) -> None:
    """Put pictures into the page until the budget is spent: every model's first, then every model's second, and so on.

    A picture that no longer fits ends it, so that files of a large study are not opened in vain.
    """
    for place in range(max((len(album.pictures) for album in albums), default=0)):
        for album in albums:
            if place < len(album.pictures) and not _inline(album.pictures[place], budget):
                return


def _inline(picture: Picture, budget: Budget) -> bool:
    """Give a picture its data URI; tell whether there was room for it."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # disentanglement_lib's own are as large as that, and no attack.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(picture.path) as image:
                picture.animated = getattr(image, "n_frames", 1) > 1
                if picture.animated:
                    image.seek(image.n_frames // 2)
                small = image.convert("RGBA")
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        picture.problem = str(error) or type(error).__name__
        return True
    small.thumbnail(_LARGEST)
    encoded = data_uri(_as_webp(_on_white(small)), "image/webp")
    if not budget.take(len(encoded) + _MARKUP):
        return False
    picture.uri, (picture.width, picture.height) = encoded, small.size
    return True


def _on_white(image: Image.Image) -> Image.Image:
    """Without transparency, behind which a dark page would show."""
    from PIL import Image

    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def _as_webp(image: Image.Image) -> bytes:
    content = io.BytesIO()
    image.save(content, "WEBP", quality=80, method=2)
    return content.getvalue()


def data_uri(content: bytes, kind: str) -> str:
    """A file as an address that holds its content."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def shrink_png(content: bytes) -> bytes:
    """The same figure in 256 colours: about a third of the bytes, and no difference to the eye."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small = io.BytesIO()
    few.save(small, "PNG", optimize=True)
    return min(content, small.getvalue(), key=len)
