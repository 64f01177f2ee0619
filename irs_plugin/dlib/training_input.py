"""What training reads: the stock input's observations, drawn a batch at a time, from where an earlier process stopped.

disentanglement_lib hands TensorFlow one observation after the other, and Python's part in that takes a good tenth of a
core beside the one that trains. For the same bits, a batch at a time takes a quarter of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# Batches that may have been drawn and not been used, with room to spare: one is fetched in advance.
_DRAWN_AHEAD = 16


class TrainingInput:
    """The batches of a training, and where the random state of the data stood after each.

    TensorFlow may draw batches before they are used, so the state of the moment is not the one that counts.

    Args:
        data: A ground-truth data set.
        seed: Of the random state that observations are drawn with.
        batch_size: Observations in a batch.
    """

    def __init__(self, data: Any, seed: int, batch_size: int) -> None:
        self.seed = int(seed)
        self.batch_size = batch_size
        self.shape = (batch_size, *np.atleast_1d(data.observation_shape))
        self._data = data
        self._start: tuple[int, dict[str, Any] | None] = (0, None)
        self._states: dict[int, dict[str, Any]] = {}
        self._images_by_index = True

    @property
    def description(self) -> str:
        """What distinguishes the data set from others, as far as that can be seen."""
        return f"{type(self._data).__name__} {self._data.factors_num_values} {self._data.observation_shape}"

    def batches(self) -> Iterator[np.ndarray]:
        """Arrays of float32 of the shape `(batch_size, *observation_shape)`, without end."""
        drawn, state = self._start
        random_state = np.random.RandomState(self.seed)
        if state is not None:
            random_state.set_state(state)
        while True:
            batch = self._batch(random_state)
            drawn += 1
            self._states[drawn] = random_state.get_state(legacy=False)
            yield batch

    def dataset(self, stock: Callable[[Any, int], Any]) -> _Batched:
        """What stands for `stock(data, seed)`, a `tf.data.Dataset` of observations that training asks for batches."""
        return _Batched(self, lambda: stock(self._data, self.seed))

    def used(self, batches: int) -> None:
        """Forget the states that are of no more use once so many batches have been used.

        Raises:
            ValueError: there were more draws than one batch for each call of the training operation.
        """
        self._states.pop(batches - 1, None)
        if len(self._states) > _DRAWN_AHEAD:
            raise ValueError(
                "training uses more than a batch in each call of its operation, so it cannot be resumed exactly: "
                "train outside resumable_training"
            )

    def state_after(self, batches: int) -> dict[str, Any]:
        """The random state after so many batches, as JSON can hold it."""
        state = self._states[batches]
        return {**state, "state": {**state["state"], "key": state["state"]["key"].tolist()}}

    def start_after(self, batches: int, state: dict[str, Any]) -> None:
        """Begin the next pass with the batch after so many, in a random state from `state_after`."""
        key = np.array(state["state"]["key"], dtype=np.uint32)
        state = {**state, "state": {**state["state"], "key": key}}
        self._start, self._states = (batches, state), {batches: state}

    def _batch(self, random_state: np.random.RandomState) -> np.ndarray:
        """What so many draws of one observation each give."""
        if self._images_by_index:
            before = random_state.get_state(legacy=False)
            batch = self._looked_up(random_state)
            if batch is not None:
                return batch
            random_state.set_state(before)
            self._images_by_index = False
        singles = (self._data.sample_observations(1, random_state)[0] for _ in range(self.batch_size))
        return np.stack([np.asarray(single, dtype=np.float32) for single in singles])

    def _looked_up(self, random_state: np.random.RandomState) -> np.ndarray | None:
        """The same by drawing factors one by one and images at once; None where that may be something else."""
        from disentanglement_lib.data.ground_truth.ground_truth_data import GroundTruthData

        from irs_plugin.dlib.images import Observations

        kind = type(self._data)
        if any(
            getattr(kind, name, None) is not getattr(GroundTruthData, name)
            for name in ("sample", "sample_observations")
        ):
            return None
        factors = np.concatenate([self._data.sample_factors(1, random_state) for _ in range(self.batch_size)])
        drawn = random_state.get_state(legacy=False)
        observations = self._data.sample_observations_from_factors(factors, random_state)
        # Images by their index, to which chance contributed nothing, do not depend on the rest of the batch.
        if isinstance(observations, Observations) and _same(drawn, random_state.get_state(legacy=False)):
            return np.asarray(observations, dtype=np.float32)
        return None


class _Batched:
    """As much of a `tf.data.Dataset` as training uses."""

    def __init__(self, source: TrainingInput, stock: Callable[[], Any]) -> None:
        self._source, self._stock = source, stock

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Any:
        """The source's batches, by as many operations in the graph as the stock data set takes.

        A random operation without a seed gets the number of the operations before it.

        Raises:
            ValueError: that is another size than the source's.
            RuntimeError: more operations would be needed.
        """
        import tensorflow.compat.v1 as tf

        source = self._source
        if batch_size != source.batch_size:
            raise ValueError(f"batches of {batch_size} were asked for: within resumable_training, {source.batch_size}")
        with tf.Graph().as_default() as graph:
            self._stock().batch(batch_size, drop_remainder=drop_remainder)
        expected = len(graph.get_operations())

        graph = tf.get_default_graph()
        before = len(graph.get_operations())
        dataset = tf.data.Dataset.from_generator(source.batches, tf.float32, output_shapes=source.shape).prefetch(1)
        # With its tuning, a session may take up to a minute to close: what tunes it sleeps and misses that it is over.
        options = tf.data.Options()
        options.autotune.enabled = False
        dataset = dataset.with_options(options)
        added = len(graph.get_operations()) - before
        if added > expected:
            raise RuntimeError(
                f"disentanglement_lib's input takes {expected} operations with this TensorFlow, its stand-in {added}: "
                "train outside resumable_training, and report it"
            )
        for _ in range(expected - added):
            tf.no_op()
        return dataset

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"within resumable_training, training may ask its input for batches only, not for .{name}: "
            "train outside the block"
        )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    numbers = [{**state["state"], **{key: state[key] for key in ("has_gauss", "gauss")}} for state in (one, other)]
    return all(np.array_equal(numbers[0][key], numbers[1][key]) for key in numbers[0])
