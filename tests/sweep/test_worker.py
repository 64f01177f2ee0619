"""What a worker that does one step after the other keeps from one to the next."""

import os

import pytest

from irs_plugin.sweep import worker


def test_no_setting_and_no_picture():
    import gin
    from matplotlib import pyplot

    with pytest.raises(RuntimeError), worker._fresh():
        gin.bind_parameter("dataset.name", "dsprites_full")
        pyplot.figure()
        raise RuntimeError
    assert "dsprites_full" not in gin.config_str()
    assert pyplot.get_fignums() == []


def test_threads_of_every_library(monkeypatch):
    for name in worker.thread_settings(3):
        monkeypatch.setenv(name, "0")
    worker.limit_threads(3)
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    assert [os.environ[name] for name in names] == ["3"] * 4
