import gin
import numpy as np
import pytest

from irs_plugin.dlib import hook

# Whether or not the package is installed in this environment, dlib's modules import.
hook.install()


class Factors:
    """A data set in dlib's form whose observations are its factors; it counts how many were asked for."""

    num_factors = 3
    factors_num_values = (3, 4, 5)
    factor_names = ("shape", "scale", "posX")

    def __init__(self):
        self.num_observed = 0

    def sample_factors(self, num, random_state):
        return np.column_stack([random_state.randint(size, size=num) for size in self.factors_num_values])

    def sample_observations_from_factors(self, factors, random_state):
        self.num_observed += len(factors)
        return np.asarray(factors, dtype=np.float32)

    def sample(self, num, random_state):
        factors = self.sample_factors(num, random_state)
        return factors, self.sample_observations_from_factors(factors, random_state)


@pytest.fixture
def data():
    return Factors()


@pytest.fixture(autouse=True)
def no_bindings_left():
    gin.clear_config()
    yield
    gin.clear_config()


@pytest.fixture
def random_state():
    return np.random.RandomState(0)
