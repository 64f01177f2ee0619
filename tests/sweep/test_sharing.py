"""What metrics share, and that they give the numbers that stock disentanglement_lib gives without it."""

import contextlib
import json
import shutil
import tracemalloc

import numpy as np
import pytest

from irs_plugin.config_files import config_root
from irs_plugin.dlib import hook
from irs_plugin.dlib.images import BinaryImages, Images, Observations, read_binary_images
from irs_plugin.dsprites.archive import SMALL, ensure_archive
from irs_plugin.sweep.sharing import SharedRepresentation, is_deterministic, shared_data, shared_representation

hook.install()

NUM_IMAGES = SMALL.num_images


@pytest.fixture(scope="module")
def dlib_data(tmp_path_factory):
    """The small archive, where disentanglement_lib looks for it."""
    from disentanglement_lib.data.ground_truth import dsprites

    path, _ = ensure_archive(SMALL, tmp_path_factory.mktemp("data"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dsprites, "DSPRITES_PATH", str(path))
        yield path


@pytest.fixture
def named_data(dlib_data):
    from disentanglement_lib.data.ground_truth import named_data

    return named_data


@pytest.fixture(scope="module")
def model(dlib_data, tmp_path_factory):
    """A beta-VAE after a few updates."""
    from disentanglement_lib.methods.unsupervised import train

    folder = tmp_path_factory.mktemp("model") / "model"
    bindings = ["model.training_steps = 20", "model.eval_steps = 1", "model.batch_size = 16"]
    with clean_gin():
        train.train_with_gin(str(folder), True, [str(config_root() / "models" / "beta_vae.gin")], bindings)
    return folder


@pytest.fixture(scope="module")
def mean(model):
    return extract(model, "mean")


@pytest.fixture(scope="module")
def sampled(model):
    return extract(model, "sampled")


@pytest.fixture(scope="module")
def seeded(model, mean):
    """A representation whose noise has a seed, so that evaluating it gives the same numbers every time."""
    import tensorflow as tf
    from disentanglement_lib.utils import convolute_hub

    def transform(mean, logvar):
        return mean + tf.exp(logvar / 2) * tf.random.normal(tf.shape(mean), seed=3)

    folder = model.with_name("seeded")
    shutil.copytree(mean / "results", folder / "results")
    tfhub = str(folder / "tfhub")
    convolute_hub.convolute_and_save(str(model / "tfhub"), "gaussian_encoder", tfhub, transform, None, "representation")
    return folder


@contextlib.contextmanager
def clean_gin():
    import gin

    gin.clear_config()
    try:
        yield
    finally:
        gin.clear_config()


def extract(model, name):
    from disentanglement_lib.postprocessing import postprocess

    folder = model.with_name(name)
    with clean_gin():
        config = str(config_root() / "postprocess" / f"{name}.gin")
        postprocess.postprocess_with_gin(str(model), str(folder), True, [config], [])
    return folder


METRICS = {
    "beta_vae_sklearn": ["beta_vae_sklearn.num_train = 20", "beta_vae_sklearn.num_eval = 10"],
    "factor_vae_metric": [
        "factor_vae_score.num_train = 20",
        "factor_vae_score.num_eval = 10",
        "factor_vae_score.num_variance_estimate = 200",
        "prune_dims.threshold = 0.0",
    ],
    "mig": ["mig.num_train = 500"],
    "sap_score": ["sap_score.num_train = 60", "sap_score.num_test = 40"],
    "modularity_explicitness": [
        "modularity_explicitness.num_train = 200",
        "modularity_explicitness.num_test = 100",
    ],
    "dci": ["dci.num_train = 10", "dci.num_test = 10"],
    "downstream_task": [
        "downstream_task.num_train = [300, 400]",
        "downstream_task.num_test = 50",
        "predictor.predictor_fn = @logistic_regression_cv",
    ],
    "unsupervised_metrics": ["unsupervised_metrics.num_train = 200"],
    "irs": ["irs.num_train = 500"],
    "irs_chance": [
        "interventional_robustness.num_train = 500",
        "interventional_robustness.num_permutations = 10",
    ],
    "irs_dlib": ["interventional_robustness.num_train = 500"],
    "irs_grid": [],
    "witnesses": ["witnesses.num_train = 200", "witnesses.num_per_latent = 1"],
}


def evaluate(representation, metric, output):
    """The scores that disentanglement_lib's own function writes."""
    from disentanglement_lib.evaluation import evaluate as dlib

    import irs_plugin.evaluation  # noqa: F401

    np.random.seed(0)  # noqa: NPY002  some metrics draw from the global generator
    config = str(config_root() / "metrics" / f"{metric}.gin")
    with clean_gin():
        dlib.evaluate_with_gin(str(representation), str(output), True, [config], METRICS[metric])
    results = json.loads((output / "results" / "json" / "evaluation_results.json").read_text())
    return {key: value for key, value in results.items() if key not in ("elapsed_time", "uuid")}


def test_scores_are_those_of_stock(mean, tmp_path):
    stock = {metric: evaluate(mean, metric, tmp_path / "stock" / metric) for metric in METRICS}
    pictures = {path: path.read_bytes() for path in (mean / "artifacts").rglob("*.png")}
    with shared_data(), shared_representation(str(mean / "tfhub")) as shared:
        ours = {metric: evaluate(mean, metric, tmp_path / "ours" / metric) for metric in METRICS}
    for metric in METRICS:
        assert ours[metric] == stock[metric], metric
        one, other = (tmp_path / who / metric / "results" / "gin" / "evaluation.gin" for who in ("stock", "ours"))
        assert one.read_text() == other.read_text()
        assert "dataset.name = 'dsprites_full'" in other.read_text()
    assert pictures and all(path.read_bytes() == before for path, before in pictures.items())
    # The grid asked for all of them. Those that batches were tried out with and filled up with come on top.
    assert shared.num_images >= NUM_IMAGES
    assert shared.num_encoded < 2 * shared.num_images


def test_noise_is_drawn_as_by_stock(seeded, sampled, tmp_path):
    metrics = ("mig", "irs")
    stock = {metric: evaluate(seeded, metric, tmp_path / "stock" / metric) for metric in metrics}
    with shared_data(), shared_representation(str(seeded / "tfhub")) as shared:
        assert shared is None
        assert {metric: evaluate(seeded, metric, tmp_path / "ours" / metric) for metric in metrics} == stock
    with shared_data(), shared_representation(str(sampled / "tfhub")) as shared:
        assert shared is None
        first, second = (evaluate(sampled, "irs", tmp_path / name) for name in ("first", "second"))
        assert first["IRS"] != second["IRS"]


def test_noise_is_told_from_the_graph(mean, sampled, seeded):
    assert is_deterministic(str(mean / "tfhub"))
    assert not is_deterministic(str(sampled / "tfhub"))
    assert not is_deterministic(str(seeded / "tfhub"))


def test_other_modules_are_loaded_as_ever(mean, sampled, tmp_path):
    stock = evaluate(mean, "irs", tmp_path / "stock")
    with shared_data(), shared_representation(str(sampled / "tfhub")):
        assert evaluate(mean, "irs", tmp_path / "ours") == stock
    with shared_data(), shared_representation(str(mean / "tfhub")) as shared:
        evaluate(sampled, "irs", tmp_path / "other")
        assert shared.num_encoded == 0


def test_sharing_ends(mean, named_data):
    import tensorflow_hub
    from disentanglement_lib.data.ground_truth import dsprites
    from disentanglement_lib.evaluation import evaluate as dlib

    numpy = dsprites.np
    with pytest.raises(RuntimeError), shared_data(), shared_representation(str(mean / "tfhub")):
        named_data.get_named_ground_truth_data("dsprites_full")
        assert named_data.dsprites is not dsprites
        assert dlib.hub is not tensorflow_hub
        raise RuntimeError
    assert named_data.dsprites is dsprites
    assert dsprites.np is numpy
    assert dlib.hub is tensorflow_hub


def test_real_module_in_every_size_of_batch(mean, named_data):
    """Bit for bit, whether or not this processor's kernels round differently for different sizes."""
    import tensorflow_hub as hub

    random_state = np.random.RandomState(0)
    with shared_data(), shared_representation(str(mean / "tfhub")) as shared:
        data = named_data.get_named_ground_truth_data("dsprites_full")
        with hub.eval_function_for_module(str(mean / "tfhub")) as stock:
            for size in (1, 2, 16, 1, 64, 16, 7, 100, 16, 1):
                observations = data.sample(size, random_state)[1]
                ours = shared({"images": observations}, signature="representation", as_dict=True)["default"]
                plain = stock({"images": np.asarray(observations)}, signature="representation", as_dict=True)
                assert ours.tobytes() == plain["default"].tobytes(), size


def test_data_set_is_loaded_once(named_data, monkeypatch):
    from disentanglement_lib.data.ground_truth import dsprites

    with shared_data():
        data = named_data.get_named_ground_truth_data("dsprites_full")
        with shared_data():
            assert named_data.get_named_ground_truth_data("dsprites_full") is data
    assert named_data.get_named_ground_truth_data("dsprites_full") is not data
    with shared_data():
        assert named_data.get_named_ground_truth_data("dsprites_full") is data
        other = named_data.get_named_ground_truth_data("dsprites_noshape")
        assert other.num_factors == data.num_factors - 1
        monkeypatch.setattr(dsprites, "DSPRITES_PATH", "elsewhere.npz")
        with pytest.raises(Exception, match="elsewhere"):
            named_data.get_named_ground_truth_data("dsprites_noshape")


def test_gin_records_the_data_set(named_data):
    import gin

    def recorded():
        with clean_gin():
            gin.bind_parameter("dataset.name", "dsprites_full")
            named_data.get_named_ground_truth_data()
            return gin.operative_config_str()

    stock = recorded()
    with shared_data():
        # Also when there is nothing left to load.
        assert recorded() == recorded() == stock
    assert "dataset.name = 'dsprites_full'" in stock


@pytest.mark.parametrize("name", ["dsprites_full", "dsprites_noshape", "color_dsprites", "noisy_dsprites"])
def test_observations_are_those_of_stock(named_data, name):
    stock = named_data.get_named_ground_truth_data(name)
    with shared_data():
        ours = named_data.get_named_ground_truth_data(name)
    first, second = np.random.RandomState(1), np.random.RandomState(1)
    for num in (1, 50, 300):
        for one, other in zip(stock.sample(num, first), ours.sample(num, second), strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            assert np.array_equal(one, other)
    # Where color is drawn, the index does not tell what the image is.
    assert isinstance(ours.sample(2, first)[1], Observations) == name.startswith("dsprites")


def test_all_images_are_those_of_stock(named_data):
    stock = named_data.get_named_ground_truth_data("dsprites_full")
    with shared_data():
        ours = named_data.get_named_ground_truth_data("dsprites_full")
    assert np.array_equal(np.asarray(ours.images), stock.images)
    assert ours.images.dtype == stock.images.dtype and ours.images.shape == stock.images.shape


def test_binary_images_take_a_bit_a_pixel(dlib_data, monkeypatch):
    with np.load(dlib_data) as archive:
        monkeypatch.setattr("irs_plugin.dlib.images._CHUNK", 64)
        with archive.zip.open("imgs.npy") as member:
            tracemalloc.start()
            images = read_binary_images(member)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert images.nbytes == NUM_IMAGES * 64 * 64 // 8
    # The packed images and a few chunks; all of them unpacked would be eight times as much.
    assert images.nbytes < peak < 2 * images.nbytes


@pytest.mark.parametrize("wrong", [2, 0.5])
def test_other_images_stay_as_they_are(named_data, tmp_path, monkeypatch, wrong):
    from disentanglement_lib.data.ground_truth import dsprites

    images = np.zeros((6, 64, 64), np.uint8 if wrong == 2 else np.float32)
    images[5, 1, 2] = wrong
    metadata = np.array({"latents_sizes": np.array([1, 3, 2, 1, 1, 1])}, dtype=object)
    np.savez(tmp_path / "images.npz", imgs=images, metadata=metadata)
    monkeypatch.setattr(dsprites, "DSPRITES_PATH", str(tmp_path / "images.npz"))
    with shared_data():
        data = named_data.get_named_ground_truth_data("dsprites_full")
    assert not isinstance(data.images, BinaryImages)
    assert np.array_equal(np.asarray(data.images), images)


def image_batch(num=10, dtype=np.float32):
    """Observations of some random images, and the array that they stand for."""
    generator = np.random.RandomState(0)
    pixels = generator.randint(2, size=(30, 4, 5)).astype(np.uint8)
    images = BinaryImages(np.packbits(pixels.reshape(30, 20), axis=1), (4, 5))
    indices = generator.randint(30, size=num)
    return images[indices].astype(dtype), pixels[indices].astype(dtype)


LAZY = {
    "new axis": lambda x: np.expand_dims(x, axis=3),
    "new axis from the end": lambda x: np.expand_dims(x, -1),
    "new axis between": lambda x: np.expand_dims(x, 1),
    "slice": lambda x: x[2:7],
    "slice of a slice": lambda x: x[::-1][1:4],
    "concatenated": lambda x: np.concatenate([x[:3], x, x[5:]]),
    "all that metrics do": lambda x: np.expand_dims(np.concatenate((x, x[:0])), axis=3)[3:5],
}
PLAIN = {
    "one": lambda x: x[3],
    "one from the end": lambda x: x[np.int64(-1)],
    "pixels": lambda x: x[:, 1, ::2],
    "mask": lambda x: x[x.mean(axis=(1, 2)) > 0.5],
    "new first axis": lambda x: np.expand_dims(x, 0),
    "another type": lambda x: x.astype(np.float64),
    "sum": lambda x: 1 + x * 2,
    "comparison": lambda x: x == 1,
    "repeated": lambda x: np.repeat(x, 3, axis=2),
    "stacked": lambda x: np.stack([x[:3], x[3:6]]),
    "concatenated along another axis": lambda x: np.concatenate([x, x], axis=1),
    "concatenated with an array": lambda x: np.concatenate([x, np.zeros((1, 4, 5), np.float32)]),
    "mean": lambda x: x.mean(axis=0),
    "transposed": lambda x: x.T,
    "reshaped": lambda x: x.reshape(len(x), -1),
    "iterated": lambda x: list(x)[4],
    "copied": lambda x: np.array(x),
}


@pytest.mark.parametrize("name", [*LAZY, *PLAIN])
def test_observations_stand_for_their_array(name):
    ours, stock = image_batch()
    operation = {**LAZY, **PLAIN}[name]
    found, expected = operation(ours), operation(stock)
    assert isinstance(found, Observations) == (name in LAZY)
    assert found.shape == expected.shape and found.dtype == expected.dtype and len(found) == len(expected)
    assert np.array_equal(found, expected)


def test_changed_observations_are_no_images_of_the_data_set():
    ours, stock = image_batch()
    before = ours
    ours *= 0.5
    assert type(ours) is np.ndarray
    assert np.array_equal(ours, stock * 0.5)
    assert np.array_equal(before, stock)


class Encoder:
    """In place of a module: codes are sums of pixels, and whatever else a kernel may let into them."""

    def __init__(self, disturbance=lambda size, place: 0.0):
        self.disturbance, self.sizes = disturbance, []

    def __call__(self, inputs, signature=None, as_dict=None):
        images = inputs["images"]
        assert type(images) is np.ndarray and signature == "representation" and as_dict
        self.sizes.append(len(images))
        places = np.array([self.disturbance(len(images), place) for place in range(len(images))])
        weights = np.arange(images[0].size, dtype=np.float32).reshape(images[0].shape)
        return {"default": np.stack([(images * weights).sum(axis=(1, 2)) + places, places], axis=1)}


def requests(images, sizes):
    generator = np.random.RandomState(0)
    return [images[generator.randint(len(images), size=size)].astype(np.float32) for size in sizes]


def codes(encoder, batch):
    return encoder({"images": batch}, signature="representation", as_dict=True)["default"]


@pytest.fixture
def many_images():
    return Images(np.random.RandomState(0).rand(500, 4, 5))


def test_each_image_is_encoded_once(many_images):
    encoder = Encoder()
    shared = SharedRepresentation(encoder)
    batches = requests(many_images, [16, 64, 16, 200, 64, 1, 300])
    for batch in batches:
        assert np.array_equal(codes(shared, batch), codes(Encoder(), np.asarray(batch)))
    distinct = len(np.unique(np.concatenate([batch.indices for batch in batches])))
    assert shared.num_images == distinct
    assert shared.num_encoded == sum(encoder.sizes)
    # Trying out six sizes of batches takes 122 images or a few more each; few are filled up by more than seven.
    tried = sum(-(-122 // size) * size for size in {16, 64, 200, 1, 300} | set(encoder.sizes))
    assert shared.num_encoded <= distinct + tried + 7 * len(encoder.sizes)
    done = shared.num_encoded
    for batch in batches:
        codes(shared, batch)
    assert shared.num_encoded == done


def test_sizes_of_batches_that_round_differently_are_kept_apart(many_images):
    def disturbance(size, place):
        return 1e-3 * (size >= 16) + 1e-3 * (size == 1)

    shared = SharedRepresentation(Encoder(disturbance))
    for batch in requests(many_images, [16, 5, 1, 16, 5, 1, 64, 64, 5, 16, 1]):
        assert np.array_equal(codes(shared, batch), codes(Encoder(disturbance), np.asarray(batch)))


def test_every_size_of_batch_may_round_differently(many_images):
    shared = SharedRepresentation(Encoder(lambda size, place: 1e-3 * size))
    for batch in requests(many_images, range(1, 80, 3)):
        expected = codes(Encoder(lambda size, place: 1e-3 * size), np.asarray(batch))
        assert np.array_equal(codes(shared, batch), expected)


def test_nothing_is_kept_where_the_place_in_the_batch_matters(many_images):
    def disturbance(size, place):
        return 1e-3 * (place == size - 1)

    shared = SharedRepresentation(Encoder(disturbance))
    for batch in requests(many_images, [16, 64, 16, 64, 3]):
        assert np.array_equal(codes(shared, batch), codes(Encoder(disturbance), np.asarray(batch)))
    assert shared.num_images == 0


def test_nothing_is_kept_where_neighbours_matter(many_images):
    """As with batch normalisation that was exported in training mode."""

    def normalised(inputs, signature=None, as_dict=None):
        found = Encoder()(inputs, signature, as_dict)["default"]
        return {"default": found - found.mean(axis=0)}

    shared = SharedRepresentation(normalised)
    for batch in requests(many_images, [200, 16, 200, 16]):
        assert np.array_equal(codes(shared, batch), codes(normalised, np.asarray(batch)))
    assert shared.num_images == 0


def test_plain_arrays_are_encoded_as_they_are(many_images):
    encoder = Encoder()
    shared = SharedRepresentation(encoder)
    batch = np.asarray(requests(many_images, [20])[0])
    for _ in range(2):
        assert np.array_equal(codes(shared, batch), codes(Encoder(), batch))
    assert encoder.sizes == [20, 20]
    assert shared.num_images == 0


def test_images_of_different_data_sets_are_not_mixed_up(many_images):
    shared = SharedRepresentation(Encoder())
    other = Images(1.0 - np.asarray(many_images))
    for images in (many_images, other, many_images):
        for batch in requests(images, [16, 16]):
            assert np.array_equal(codes(shared, batch), codes(Encoder(), np.asarray(batch)))
