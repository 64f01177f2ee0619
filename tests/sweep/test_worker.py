"""What a worker that does one step after the other keeps from one to the next."""

import os

import pytest

from irs_plugin.sweep import worker


def test_no_setting_and_no_picture():
    import gin
    from matplotlib import pyplot

    @gin.configurable("test_worker_step")
    def step(value=0):
        return value

    with pytest.raises(RuntimeError), worker._fresh():
        gin.bind_parameter("test_worker_step.value", 1)
        assert step() == 1
        pyplot.figure()
        raise RuntimeError
    assert step() == 0
    assert pyplot.get_fignums() == []


def test_threads_of_every_library(monkeypatch):
    for name in worker.thread_settings(3):
        monkeypatch.setenv(name, "0")
    worker.limit_threads(3)
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    assert [os.environ[name] for name in names] == ["3"] * 4
