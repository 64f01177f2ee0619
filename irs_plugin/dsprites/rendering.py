"""Images of the dSprites data set (Matthey, Higgins, Hassabis and Lerchner, 2017), drawn from their class indices.

A pixel is set if its centre lies inside the sprite. The lengths below were fitted to frames of the original data set;
they agree with all but a handful of their pixels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FACTOR_NAMES = ("shape", "scale", "orientation", "posX", "posY")
FACTOR_SIZES = (3, 6, 40, 32, 32)
IMAGE_SIDE = 64

# Everything below is in pixels, lengths of sprites at scale 1.
_HALF_SQUARE = 9.598
_ELLIPSE_SEMI_AXES = (12.77, 7.21)
_HEART_HALF_WIDTH = 9.594
_HEART_STEP = 0.662
_HEART_CENTRE = -1.436
_FIRST_CENTRE, _LAST_CENTRE = 15.5, 47.5
# The pixels around the centre that the largest sprite can reach.
_WINDOW = np.arange(-13, 15)
_CHUNK = 512


def render(labels: npt.ArrayLike) -> np.ndarray:
    """Draw the sprites with the given factors.

    Args:
        labels: ``(n, 5)`` integer class indices: shape (0 square, 1 ellipse, 2 heart), scale, orientation, posX, posY,
            below 3, 6, 40, 32 and 32. Orientations 0 and 39 are the same angle, as in the original.

    Returns:
        ``(n, 64, 64)`` uint8 images of 0 and 1, rows from top to bottom.

    Raises:
        ValueError: ``labels`` has another shape, or an index is no whole number or out of its range.
    """
    labels = _check_labels(labels)
    images = np.zeros((len(labels), IMAGE_SIDE, IMAGE_SIDE), dtype=np.uint8)
    for shape, inside in enumerate((_in_square, _in_ellipse, _in_heart)):
        members = np.flatnonzero(labels[:, 0] == shape)
        for start in range(0, len(members), _CHUNK):
            chunk = members[start : start + _CHUNK]
            _draw(images, chunk, labels[chunk, 1:], inside)
    return images


def _check_labels(labels: npt.ArrayLike) -> np.ndarray:
    given = np.asarray(labels)
    if given.ndim != 2 or given.shape[1] != len(FACTOR_NAMES):
        raise ValueError(f"labels has shape {given.shape}, expected (n, 5): one index for each of {FACTOR_NAMES}")
    if not np.issubdtype(given.dtype, np.number) or np.issubdtype(given.dtype, np.complexfloating):
        raise ValueError(f"labels has dtype {given.dtype}, expected integer class indices")
    for name, size, column in zip(FACTOR_NAMES, FACTOR_SIZES, given.T, strict=True):
        valid = (column >= 0) & (column < size) & (column == np.floor(column))
        if not valid.all():
            row = int(np.argmin(valid))
            raise ValueError(f"{name} of row {row} is {column[row]}, expected a class index from 0 to {size - 1}")
    return given.astype(np.int64)


def _draw(images: np.ndarray, rows: np.ndarray, poses: np.ndarray, inside: Callable) -> None:
    """Set the pixels of ``images[rows]`` whose centres are inside sprites of one shape in the given poses."""
    scale, orientation, *position = poses.T
    step = (_LAST_CENTRE - _FIRST_CENTRE) / (FACTOR_SIZES[3] - 1)
    x_pixels, x = _window(_FIRST_CENTRE + step * position[0])
    y_pixels, y = _window(_FIRST_CENTRE + step * position[1])
    turns = FACTOR_SIZES[2] - 1
    angle = 2 * np.pi / turns * (orientation % turns)
    size = 0.5 + 0.1 * scale
    cosine, sine = ((f(angle) / size)[:, None, None] for f in (np.cos, np.sin))
    x, y = x[:, None, :], y[:, :, None]
    images[rows[:, None, None], y_pixels[:, :, None], x_pixels[:, None, :]] = inside(
        cosine * x - sine * y, sine * x + cosine * y
    )


def _window(centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels around the centres along one axis, and how far from the centres they are."""
    pixels = np.floor(centre).astype(np.int64)[:, None] + _WINDOW
    return pixels, pixels - centre[:, None]


def _in_square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(x), np.abs(y)) < _HALF_SQUARE


def _in_ellipse(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = _ELLIPSE_SEMI_AXES
    return (x / a) ** 2 + (y / b) ** 2 < 1


def _in_heart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The heart x = 16 sin³ t, y = 13 cos t − 5 cos 2t − 2 cos 3t − cos 4t, its tip pointing down.

    At a given x there are two t, with opposite cosines: one on the lobe above, one on the flank below.
    """
    sine = np.cbrt(np.minimum(np.abs(x) / _HEART_HALF_WIDTH, 1))
    cosine = np.sqrt(1 - sine**2)
    square = cosine**2
    even = 4 - 2 * square - 8 * square**2
    odd = cosine * (19 - 8 * square)
    above, below = even + odd, even - odd
    height = (_HEART_CENTRE - y) / _HEART_STEP
    return (below < height) & (height < above)
