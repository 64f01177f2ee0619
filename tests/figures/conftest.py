import matplotlib
import numpy as np
import pytest


@pytest.fixture
def grid():
    """A full 3 × 4 × 5 grid twice, and codes: z0 = g2, z1 = g1 with some of g0, z2 constant, z3 of all with noise."""
    factors = np.array(np.meshgrid(range(3), range(4), range(5), indexing="ij")).reshape(3, -1).T
    factors = np.vstack([factors, factors])
    noise = np.random.RandomState(0).normal(size=len(factors))
    g0, g1, g2 = factors.T
    return factors, np.column_stack([g2, g1 + 0.4 * g0, np.full(len(factors), 0.3), g0 + g1 - g2 + 0.5 * noise])


@pytest.fixture(autouse=True)
def untouched_matplotlib():
    """Every test of a picture checks that matplotlib's state is as it was and that pyplot holds no new figure."""
    import matplotlib.pyplot as plt

    # Asking for the backend settles it, so that comes first.
    backend = matplotlib.get_backend()
    before, open_figures = matplotlib.rcParams.copy(), plt.get_fignums()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    yield
    assert plt.get_fignums() == open_figures
    assert matplotlib.get_backend() == backend
    assert dict(matplotlib.rcParams) == dict(before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
