"""The archive that disentanglement_lib's loader finds, and how it gets there."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from irs_plugin import cli
from irs_plugin.dsprites import archive, render
from irs_plugin.dsprites.archive import FULL, SMALL, archive_path, describe_archive, ensure_archive, read_metadata


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    path, rendered = ensure_archive(SMALL, folder)
    assert rendered
    return path


def test_the_full_archive_has_the_original_form():
    assert FULL.latents_sizes == (1, 3, 6, 40, 32, 32) and FULL.num_images == 737_280
    rows = np.array([0, 1, 32, 1024, 40_960, 245_760, 737_279])
    bases = np.array([737_280, 245_760, 40_960, 1_024, 32, 1])
    np.testing.assert_array_equal(FULL.classes(rows) @ bases, rows)
    assert FULL.classes(rows[-1:]).tolist() == [[0, 2, 5, 39, 31, 31]]
    color, shape, scale, orientation, x, y = FULL.possible_values()
    assert (color.tolist(), shape.tolist()) == ([1.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(scale, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert (orientation[0], orientation[-1], len(orientation)) == (0.0, 2 * np.pi, 40)
    assert (x[0], x[-1], y[0], y[-1]) == (0.0, 1.0, 0.0, 1.0)


def test_contents_of_the_small_archive(small):
    with np.load(small, allow_pickle=True, encoding="latin1") as data:
        images, classes, values = data["imgs"], data["latents_classes"], data["latents_values"]
        metadata = data["metadata"][()]
    sizes = metadata["latents_sizes"].tolist()
    assert np.prod(sizes) == len(images) == len(classes) == len(values) == SMALL.num_images
    assert (images.dtype, images.shape[1:], images.max()) == (np.uint8, (64, 64), 1)
    assert (classes.dtype, values.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(classes, np.array(np.unravel_index(np.arange(len(images)), sizes)).T)
    for k, name in enumerate(metadata["latents_names"]):
        np.testing.assert_array_equal(values[:, k], metadata["latents_possible_values"][name][classes[:, k]])
    originals = np.column_stack([np.array(kept)[classes[:, k + 1]] for k, kept in enumerate(SMALL.indices)])
    np.testing.assert_array_equal(images, render(originals))


def test_metadata_say_who_drew_the_images(small):
    metadata = read_metadata(small)
    original = "date description version latents_names latents_possible_values latents_sizes author title"
    assert set(metadata) == set(original.split())
    assert "irs_plugin rendered them" in metadata["description"] and "small variant" in metadata["description"]
    assert "small" in describe_archive(small)


def test_an_archive_that_is_there_is_never_changed(small, capsys):
    before = small.read_bytes()
    assert cli.main(["dsprites", "--small", "--data_dir", str(small.parents[1])]) == 0
    assert "already there" in capsys.readouterr().out
    assert cli.main(["dsprites", "--data_dir", str(small.parents[1])]) == 2
    assert "wanted the full archive" in capsys.readouterr().err
    assert small.read_bytes() == before


def test_a_file_that_is_no_archive_is_left_alone(tmp_path, capsys):
    path = archive_path(tmp_path)
    path.parent.mkdir()
    path.write_text("not yet downloaded")
    assert cli.main(["dsprites", "--data_dir", str(tmp_path)]) == 2
    assert "is no dSprites archive" in capsys.readouterr().err
    assert path.read_text() == "not yet downloaded"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_interruption_leaves_nothing_behind(tmp_path, monkeypatch, failure):
    calls = []

    def interrupted(labels):
        calls.append(len(labels))
        if len(calls) == 2:
            raise failure
        return render(labels)

    monkeypatch.setattr(archive, "render", interrupted)
    with pytest.raises(failure):
        ensure_archive(SMALL, tmp_path)
    assert len(calls) == 2 and list(archive_path(tmp_path).parent.iterdir()) == []


def test_a_terminated_command_leaves_nothing_behind(tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(archive, "render", lambda labels: os.kill(os.getpid(), signal.SIGTERM))
    assert cli.main(["dsprites", "--small", "--data_dir", str(tmp_path)]) == 130
    assert list(archive_path(tmp_path).parent.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_too_little_space_is_said_before_work_starts(tmp_path, monkeypatch, capsys):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert cli.main(["dsprites", "--data_dir", str(tmp_path)]) == 2
    assert "MB left, but the full archive needs" in capsys.readouterr().err
    assert list(tmp_path.rglob("*.npz")) == []


def test_stock_disentanglement_lib_loads_it(small):
    script = """
import numpy as np
from disentanglement_lib.data.ground_truth import named_data
data = named_data.get_named_ground_truth_data("dsprites_full")
factors, images = data.sample(300, np.random.RandomState(0))
print(data.factors_num_values, factors.max(axis=0).tolist(), images.shape, int(images.max()))
"""
    environment = {**os.environ, "DISENTANGLEMENT_LIB_DATA": str(small.parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[3, 3, 10, 8, 8] [2, 2, 9, 7, 7] (300, 64, 64, 1) 1"
