"""The renderer against frames of the original data set (decoded from the animation in its repository, Apache-2.0)."""

from pathlib import Path

import numpy as np
import pytest

from irs_plugin.dsprites import render

FRAMES = Path(__file__).parents[1] / "data" / "dsprites_real_frames.npz"


@pytest.fixture(scope="module")
def frames():
    with np.load(FRAMES) as data:
        return data["labels"], data["imgs"]


def overlap(left, right):
    """Intersection over union of each pair of images."""
    return (left & right).sum(axis=(1, 2)) / (left | right).sum(axis=(1, 2))


def test_sprites_are_where_the_original_has_them(frames):
    labels, images = frames
    found = overlap(render(labels), images)
    assert found.mean() >= 0.99
    assert found.min() >= 0.97


def test_upright_squares_are_exact(frames):
    labels, images = frames
    upright = (labels[:, 0] == 0) & np.isin(labels[:, 2], (0, 39))
    assert upright.sum() >= 3
    np.testing.assert_array_equal(render(labels[upright]), images[upright])


def test_sizes_of_upright_squares():
    labels = np.array([[0, scale, 0, 0, 0] for scale in range(6)])
    images = render(labels)
    assert images.any(axis=1).sum(axis=1).tolist() == [10, 12, 14, 16, 18, 20]
    assert images.sum(axis=(1, 2)).tolist() == [side**2 for side in (10, 12, 14, 16, 18, 20)]


def test_the_first_and_the_last_orientation_are_the_same_angle():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, (3, 6, 40, 32, 32), (60, 5))
    first, last = labels.copy(), labels.copy()
    first[:, 2], last[:, 2] = 0, 39
    np.testing.assert_array_equal(render(first), render(last))


@pytest.mark.parametrize("shape", range(3))
def test_sprites_grow_turn_and_move_steadily(shape):
    """No image is empty, none touches the border, and one step of any factor changes an image by little."""
    labels = np.array([[shape, scale, turn, x, y] for scale in range(6) for turn in range(0, 40, 3) for x in (0, 13, 31)
                       for y in (0, 31)])  # fmt: skip
    images = render(labels)
    assert not images[:, [0, -1]].any() and not images[:, :, [0, -1]].any()
    columns, rows = images.any(axis=1).argmax(axis=1), images.any(axis=2).argmax(axis=1)
    assert (np.diff(images.sum(axis=(1, 2)).reshape(6, -1), axis=0) > 0).all(), "larger scales cover more pixels"
    for factor, size in ((3, 32), (4, 32)):
        inside = labels[:, factor] < size - 1
        moved = render(labels[inside] + np.eye(5, dtype=int)[factor])
        edge = moved.any(axis=1 if factor == 3 else 2).argmax(axis=1)
        assert set((edge - (columns if factor == 3 else rows)[inside]).tolist()) <= {0, 1, 2}
    turned = render(labels + np.array([0, 0, 1, 0, 0]) * (labels[:, 2:3] < 39))
    assert overlap(images, turned).min() > 0.6


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[3, 0, 0, 0, 0]], "3"),
        ([[0, 0, 40, 0, 0]], "40"),
        ([[0, 0, 0, 0, -1]], "-1"),
        ([[0, 0, 0, 0.5, 0]], "0.5"),
        ([[0, 0, 0, 0]], r"expected \(n, 5\)"),
        ([0, 0, 0, 0, 0], r"expected \(n, 5\)"),
        ([["square", 0, 0, 0, 0]], "integer class indices"),
        ([[np.nan, 0, 0, 0, 0]], "nan"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        render(labels)


def test_no_labels_no_images():
    assert render(np.empty((0, 5), dtype=int)).shape == (0, 64, 64)
