"""Random small problems for hypothesis: factors of every dtype users bring, codes with ties, skew and large offsets."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Each turns factor codes 0, 1, 2, … into realisations as users store them.
FACTOR_TYPES = {
    "int64": lambda codes: codes.astype(np.int64),
    "uint8": lambda codes: codes.astype(np.uint8),
    "negative": lambda codes: -3 * codes.astype(np.int32),
    "sparse": lambda codes: codes.astype(np.int64) * 10**15 - 7,
    "float32": lambda codes: codes.astype(np.float32),
    "halves": lambda codes: codes / 2 + 0.25,
    "text": lambda codes: np.array(["abcdefgh"[c] for c in codes.ravel()]).reshape(codes.shape),
}

# Each turns numbers in [-4, 4] into codes.
LATENT_SHAPES = {
    "plain": lambda z: z,
    "ties": np.rint,
    "skewed": lambda z: np.exp(2 * z),
    "offset": lambda z: 1000.0 + z,
    "float32": lambda z: z.astype(np.float32),
    "integers": lambda z: np.rint(3 * z).astype(np.int64),
}


@st.composite
def problems(draw, max_samples=24, min_factors=1, max_factors=4, max_values=4, max_latents=3):
    """`(gen_factors, latents)`: few values give repeated cells, many give singletons; both occur."""
    num_samples = draw(st.integers(1, max_samples))
    num_factors = draw(st.integers(min_factors, max_factors))
    num_latents = draw(st.integers(1, max_latents))
    num_values = draw(st.integers(1, max_values))
    codes = draw(hnp.arrays(np.int64, (num_samples, num_factors), elements=st.integers(0, num_values - 1)))
    latents = draw(hnp.arrays(np.float64, (num_samples, num_latents), elements=st.floats(-4, 4, width=32)))
    gen_factors = FACTOR_TYPES[draw(st.sampled_from(sorted(FACTOR_TYPES)))](codes)
    if gen_factors.dtype.kind == "f":  # fractions that never repeat are refused as continuous
        whole = (gen_factors == np.rint(gen_factors)).all()
        assume(whole or all(len(np.unique(column)) < num_samples or num_samples == 1 for column in gen_factors.T))
    return gen_factors, LATENT_SHAPES[draw(st.sampled_from(sorted(LATENT_SHAPES)))](latents)


def groups(num_members: int, min_size: int = 0):
    """Sorted tuples of distinct indices below `num_members`."""
    return st.sets(st.integers(0, num_members - 1), min_size=min_size).map(lambda members: tuple(sorted(members)))


def expectations():
    """Keyword arguments that choose E[·]."""
    trimmed = st.sampled_from([0.0, 0.1, 0.25, 0.4]).map(lambda trim: {"expectation": "trimmed_mean", "trim": trim})
    return st.one_of(st.just({}), st.just({"expectation": "median"}), trimmed)


def as_lists(gen_factors: np.ndarray, latents: np.ndarray) -> tuple[list, list]:
    """The same problem for the reference, as Python values."""
    return [tuple(g) for g in np.asarray(gen_factors).tolist()], np.asarray(latents, dtype=np.float64).tolist()
