"""Versions that go together."""

from __future__ import annotations

# Older TensorFlows still have tf.estimator and tf.layers of their own and would need a second path through everything.
OLDEST_TENSORFLOW = (2, 16)
NEWEST_TENSORFLOW = (2, 21)

# Python and TensorFlow, as the sessions in noxfile.py test them.
TESTED = (("3.10", "2.16"), ("3.11", "2.16"), ("3.11", "2.21"), ("3.12", "2.21"), ("3.13", "2.21"))


def require_supported(tensorflow_version: str) -> None:
    """Raise an ``ImportError`` of one sentence unless this TensorFlow is supported."""
    release = tuple(int(part) for part in tensorflow_version.split(".")[:2])
    if not OLDEST_TENSORFLOW <= release <= NEWEST_TENSORFLOW:
        oldest, newest, beyond = (
            ".".join(map(str, version))
            for version in (OLDEST_TENSORFLOW, NEWEST_TENSORFLOW, (NEWEST_TENSORFLOW[0], NEWEST_TENSORFLOW[1] + 1))
        )
        raise ImportError(
            f"disentanglement_lib runs here on TensorFlow {oldest} to {newest}, but {tensorflow_version} is installed: "
            f"pip install 'tf_keras>={oldest},<{beyond}'"
        )
