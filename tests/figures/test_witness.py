import json

import numpy as np
import pytest

from irs_plugin import disentanglement_score
from irs_plugin.figures import draw_witnesses, witnesses, witnesses_data


def _images(num_samples):
    """Image n is filled with n."""
    return np.broadcast_to(np.arange(num_samples, dtype=np.uint8)[:, None, None], (num_samples, 6, 6)).copy()


def test_witnesses_are_the_nearest_and_farthest_of_the_worst_realisations(grid):
    factors, codes = grid
    found = witnesses_data(factors, codes, num_per_latent=2)
    score = disentanglement_score(factors, codes)
    assert [witness.latent for witness in found.witnesses] == [0, 0, 1, 1, 3, 3]
    for latent in (1, 3):
        parent = score.parents[latent]
        realisations = []
        for value in np.unique(factors[:, parent]):
            rows = np.flatnonzero(factors[:, parent] == value)
            mean = codes[rows, latent].mean()
            distances = np.abs(codes[rows, latent] - mean)
            realisations.append((distances.max(), value, rows[distances.argmin()], mean))
        realisations.sort(key=lambda entry: -entry[0])
        for witness, (distance, _, reference, mean) in zip(
            [witness for witness in found.witnesses if witness.latent == latent], realisations, strict=False
        ):
            assert witness.distance == pytest.approx(distance)
            assert witness.relative_distance == pytest.approx(
                distance / np.abs(codes[:, latent] - codes[:, latent].mean()).max()
            )
            rows = factors[[witness.reference, witness.extreme], parent]
            assert rows[0] == rows[1] == witness.parent_value
            if latent == 3:  # No ties there.
                assert witness.reference == reference
                assert witness.expected == pytest.approx(mean)
            assert witness.extreme_code == codes[witness.extreme, latent]
            assert abs(witness.extreme_code - witness.expected) == pytest.approx(distance)
            changed = [f"g{k}" for k in range(3) if factors[witness.reference, k] != factors[witness.extreme, k]]
            assert list(witness.changed) == changed
    json.dumps(found.to_dict(), allow_nan=False)


def test_ties_go_to_the_first_row():
    factors = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    codes = np.array([0.0, 1.0, -1.0, 5.0, 6.0, 4.0])[:, None]
    found = witnesses_data(factors, codes)
    assert [(witness.reference, witness.extreme) for witness in found.witnesses] == [(0, 1), (3, 4)]


def test_the_images_of_the_witnesses_are_drawn(grid):
    factors, codes = grid
    found = witnesses_data(factors, codes, num_per_latent=2)
    (figure,) = draw_witnesses(found, _images(len(codes)))
    figure.draw_without_rendering()
    shown = [axes.images[0].get_array()[0, 0] * 255 for axes in figure.axes]
    expected = [row for witness in found.witnesses for row in (witness.reference, witness.extreme)]
    np.testing.assert_allclose(shown, expected)
    texts = [text.get_text() for text in figure.texts]
    worst = found.witnesses[-2]
    caption = next(text for text in texts if f"{worst.extreme_code:.3g}".replace("-", "−") in text)
    for name, (before, after) in worst.changed.items():
        assert f"{name} {before} → {after}" in caption
    assert any(text.startswith("z3\n") and "IRS" in text for text in texts)
    assert any("inactive" in text and "z2" in text for text in texts)


def test_a_callable_is_asked_for_the_rows_needed_only(grid):
    factors, codes = grid
    asked = []

    def images(rows):
        asked.append(rows)
        return np.ones((len(rows), 4, 4, 3)) * 0.5

    (figure,) = witnesses(factors, codes, images, num_per_latent=1, size="one_column")
    assert len(asked) == 1
    assert len(asked[0]) <= 6
    assert len(figure.axes) == 6


def test_pages_collapse_and_bad_images(grid):
    factors, codes = grid
    images = _images(len(codes))
    assert len(witnesses(factors, codes, images, latents_per_page=2)) == 2
    (figure,) = witnesses(factors, np.ones_like(codes), images)
    assert "No witnesses to draw" in figure.texts[0].get_text()
    with pytest.raises(ValueError, match="images must be one per sample, 120; got 119"):
        witnesses(factors, codes, images[1:])
    with pytest.raises(ValueError, match="1 or 3 channels"):
        witnesses(factors, codes, images.reshape(len(codes), -1))
    with pytest.raises(ValueError, match="num_per_latent must be a whole number from 1"):
        witnesses(factors, codes, images, num_per_latent=0)


def test_noise_alone_is_called_so():
    factors = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 2, axis=0)
    codes = np.array([0.0, 5.0, 1.0, 1.1, 9.0, 9.1, 9.2, 9.0])[:, None]
    found = witnesses_data(factors, codes, num_per_latent=1)
    assert found.witnesses[0].changed == {"g1": (1, 0)}
    noisy = witnesses_data(factors, np.array([1.0, 5.0, 0.0, 0.0, 9.0, 9.1, 9.2, 9.0])[:, None], num_per_latent=1)
    assert noisy.witnesses[0].changed == {}
    (figure,) = draw_witnesses(noisy, _images(8))
    assert any("no factor differs" in text.get_text() for text in figure.texts)
