"""Training that can be resumed reads, bit for bit and in as large a graph, what stock training reads."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from irs_plugin.dlib import hook
from irs_plugin.dlib.images import Observations
from irs_plugin.dlib.training_input import TrainingInput

pytest.importorskip("tensorflow")
hook.install()

BATCH_SIZE = 8


class RandomImages:
    """Needs one draw or two for an observation."""

    observation_shape, factors_num_values = [2, 2, 1], [5]

    def sample_observations(self, num, random_state):
        return random_state.random_sample((num, 2, 2, 1)) + random_state.randint(2) * random_state.randn(num, 2, 2, 1)


def images_by_index(factors=(8, 5)):
    """A data set whose images a table holds, as they come within ``shared_data``."""
    from disentanglement_lib.data.ground_truth.ground_truth_data import GroundTruthData

    from irs_plugin.dlib.images import Images

    class Table(GroundTruthData):
        observation_shape, factors_num_values, num_factors = [2, 2, 1], list(factors), len(factors)
        images = Images(np.random.RandomState(0).random_sample((int(np.prod(factors)), 2, 2, 1)))
        calls = 0

        def sample_factors(self, num, random_state):
            return np.stack([random_state.randint(values, size=num) for values in factors], axis=1)

        def sample_observations_from_factors(self, factors, random_state):
            self.calls += 1
            return self.images[np.ravel_multi_index(factors.T, self.factors_num_values)]

    return Table()


def with_noise():
    class Noisy(type(images_by_index())):
        def sample_observations_from_factors(self, factors, random_state):
            random_state.randint(2)
            return super().sample_observations_from_factors(factors, random_state)

    return Noisy()


def sampled_as_pleased():
    class Own(type(images_by_index())):
        def sample_observations(self, num, random_state):
            return np.asarray(super().sample_observations(num, random_state)) + 1

    return Own()


DATA = {
    "random images": (RandomImages, None),
    "images by index": (images_by_index, 3),
    "noise": (with_noise, 1 + 3 * BATCH_SIZE),
    "own sampling": (sampled_as_pleased, 3 * BATCH_SIZE),
}


@pytest.mark.parametrize("name", DATA)
def test_batches_are_the_observations_drawn_one_by_one(name):
    make, calls = DATA[name]
    data, random_state = make(), np.random.RandomState(3)
    stock = np.array([data.sample_observations(1, random_state)[0] for _ in range(3 * BATCH_SIZE)], dtype=np.float32)
    ours = make()
    batches = TrainingInput(ours, 3, BATCH_SIZE).batches()
    found = [next(batches) for _ in range(3)]
    assert all(type(batch) is np.ndarray and batch.dtype == np.float32 for batch in found)
    np.testing.assert_array_equal(np.concatenate(found), stock)
    # Images are looked up at once where that is known to be the same, and only there.
    assert getattr(ours, "calls", None) == calls


def test_images_of_the_table_are_those_that_count_as_such():
    data = images_by_index()
    assert isinstance(data.sample_observations(3, np.random.RandomState(0)), Observations)


def graph_and_batches(make_dataset, number):
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default() as graph, tf.Session() as session:
        batch = tf.data.make_one_shot_iterator(make_dataset()).get_next()
        operations = len(graph.get_operations())
        return operations, batch.shape, np.concatenate([session.run(batch) for _ in range(number)])


@pytest.mark.parametrize("make", [RandomImages, images_by_index])
def test_graph_and_values_are_those_of_stock(make):
    from disentanglement_lib.data.ground_truth import util

    def stock():
        dataset = util.tf_data_set_from_ground_truth_data(make(), 5)
        return dataset.batch(BATCH_SIZE, drop_remainder=True)

    def ours():
        source = TrainingInput(make(), 5, BATCH_SIZE)
        return source.dataset(util.tf_data_set_from_ground_truth_data).batch(BATCH_SIZE, drop_remainder=True)

    # The number of operations decides what random operations without a seed draw.
    (operations, shape, expected), (found_operations, found_shape, found) = (
        graph_and_batches(dataset, 4) for dataset in (stock, ours)
    )
    assert found_operations == operations
    assert found_shape.as_list() == shape.as_list() == [BATCH_SIZE, 2, 2, 1]
    np.testing.assert_array_equal(found, expected)


def test_another_size_of_batch_is_refused():
    from disentanglement_lib.data.ground_truth import util

    source = TrainingInput(RandomImages(), 5, BATCH_SIZE)
    with pytest.raises(ValueError, match="batches of 4 were asked for: within resumable_training, 8"):
        source.dataset(util.tf_data_set_from_ground_truth_data).batch(4)


def test_what_could_not_be_resumed_exactly_is_refused(tmp_path):
    """A second input, several batches in a call, and anything else that training might do with its input."""
    from irs_plugin.dlib import resuming

    with resuming.resumable_training(tmp_path / "training"):
        resuming.current().in_training, resuming.current().batch_size = True, BATCH_SIZE
        source = resuming.training_input(RandomImages(), 5)
        with pytest.raises(ValueError, match="two inputs cannot be resumed exactly"):
            resuming.training_input(RandomImages(), 6)
    batches = source.batches()
    for call in range(1, 40):
        next(batches)
        source.used(call)
    with pytest.raises(ValueError, match="more than a batch in each call"):
        for call in range(40, 80):
            next(batches), next(batches)
            source.used(call)
    with pytest.raises(AttributeError, match=r"batches only, not for \.shuffle"):
        source.dataset(None).shuffle(10)


def test_observations_without_dimensions_of_an_image():
    source = TrainingInput(SimpleNamespace(observation_shape=10), 5, BATCH_SIZE)
    assert source.shape == (BATCH_SIZE, 10)


def test_a_larger_graph_than_stock_is_refused():
    import tensorflow.compat.v1 as tf

    source = TrainingInput(RandomImages(), 5, BATCH_SIZE)
    few = source.dataset(lambda data, seed: SimpleNamespace(batch=lambda *size, **how: tf.no_op()))
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match=r"takes 1 operations .* its stand-in \d+"):
        few.batch(BATCH_SIZE)


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
def test_nothing_tunes_what_training_waits_for_at_its_end():
    import tensorflow.compat.v1 as tf
    from disentanglement_lib.data.ground_truth import util

    source = TrainingInput(RandomImages(), 5, BATCH_SIZE)
    with tf.Graph().as_default():
        dataset = source.dataset(util.tf_data_set_from_ground_truth_data).batch(BATCH_SIZE)
        assert dataset.options().autotune.enabled is False
