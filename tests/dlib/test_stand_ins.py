"""What modules of disentanglement_lib see."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from irs_plugin.dlib import hook
from irs_plugin.dlib.loading import View
from irs_plugin.dlib.registry import STAND_INS
from irs_plugin.dlib.standins import distutils, pkg_resources


@pytest.fixture(scope="module", autouse=True)
def dlib():
    hook.install()


def test_a_view_passes_on_what_it_does_not_supply():
    real = ModuleType("real", "Documented.")
    real.kept, real.replaced = 1, 2
    calls = []
    view = View(real, {"replaced": lambda: calls.append("made") or 3, "added": lambda: 4})
    assert calls == []
    assert (view.kept, view.replaced, view.replaced, view.added) == (1, 3, 3, 4)
    assert calls == ["made"]
    real.kept = 5
    assert view.kept == 5
    assert real.replaced == 2
    assert {"kept", "replaced", "added"} <= set(dir(view))
    assert (view.__name__, view.__doc__) == ("real", "Documented.")
    with pytest.raises(AttributeError, match="module 'real' has no attribute 'missing'"):
        _ = view.missing


def test_every_stand_in_has_its_reason_and_supplies_something():
    for stand_in in STAND_INS:
        assert len(stand_in.reason) > 20
        assert isinstance(stand_in.needed(), bool)
        for path in stand_in.paths:
            assert stand_in.load().supply(path) is not None
    paths = [path for stand_in in STAND_INS for path in stand_in.paths]
    assert len(paths) == len(set(paths))


def test_library_sees_them_and_this_module_does_not():
    from disentanglement_lib.methods.unsupervised import train, vae
    from disentanglement_lib.utils import results

    assert results.np.float_ is np.float64
    assert vae.tf.estimator.ModeKeys.TRAIN == "train"
    assert vae.tf.layers.__name__.startswith("tf_keras.")
    assert train.contrib_tpu.TPUEstimator.__module__ == "irs_plugin.dlib.estimator"
    assert isinstance(vae.tf, View)
    assert "tensorflow.contrib" not in sys.modules


def test_bernoulli_entropy():
    import tensorflow as tf
    from disentanglement_lib.methods.shared import losses

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        entropy = session.run(losses.tfp.distributions.Bernoulli(probs=[0.5, 0.1]).entropy())
    assert entropy == pytest.approx([np.log(2), -0.1 * np.log(0.1) - 0.9 * np.log(0.9)], abs=1e-6)


def test_folders_can_be_copied_twice_in_one_process(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "file").write_text("content")
    for _ in range(2):
        written = distutils.copy_tree(str(source), str(target))
        assert written == [str(target / "inner" / "file")]
        assert (target / "inner" / "file").read_text() == "content"
        (target / "inner" / "file").unlink()
        (target / "inner").rmdir()
        target.rmdir()


def test_results_can_be_overwritten_twice_in_one_process(tmp_path):
    import shutil

    from disentanglement_lib.utils import results

    results.update_result_directory(str(tmp_path / "old"), "train", {"score": np.float64(1)})
    for _ in range(2):
        results.update_result_directory(str(tmp_path / "new"), "evaluation", {"score": 2}, str(tmp_path / "old"))
        assert (tmp_path / "new" / "json" / "train_results.json").exists()
        shutil.rmtree(tmp_path / "new")


def test_files_of_a_package():
    from disentanglement_lib.utils import resources

    folder = "config/unsupervised_study_v1/metric_configs"
    files = list(resources.get_files_in_folder(folder))
    assert any(name.endswith("mig.gin") for name in files)
    assert resources.get_file(f"{folder}/mig.gin") in files
    assert pkg_resources.resource_isdir("disentanglement_lib", folder)


@pytest.mark.parametrize("smaller, larger", [("1.15.0", "2.21.0"), ("2.9", "2.16.1"), ("2.21.0-rc1", "3.0")])
def test_versions_compare_by_their_numbers(smaller, larger):
    assert distutils.LooseVersion(smaller) < distutils.LooseVersion(larger)
    assert not distutils.LooseVersion(larger) < distutils.LooseVersion(smaller)


def test_missing_dsprites_archive_says_what_to_do(python, tmp_path):
    code = "from disentanglement_lib.data.ground_truth import dsprites; dsprites.DSprites()"
    process = python("-c", code, DISENTANGLEMENT_LIB_DATA=str(tmp_path))
    last = process.stderr.strip().splitlines()[-1]
    assert last.startswith(f"FileNotFoundError: no dSprites archive at {tmp_path}/dsprites/dsprites_ndarray")
    assert "irs_plugin dsprites" in last


def test_gin_finds_installed_files_by_name_after_local_ones(python, tmp_path):
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "mine.gin").write_text("dataset.name = 'local'\n")
    code = (
        "import disentanglement_lib.data.ground_truth.named_data, gin\n"
        "gin.parse_config_file('metrics/mine.gin'); print(gin.query_parameter('dataset.name'))\n"
        "gin.parse_config_file('metrics/mig.gin', skip_unknown=True); print(gin.query_parameter('dataset.name'))\n"
    )
    program = tmp_path / "programs" / "program.py"
    program.parent.mkdir()
    program.write_text(code)
    process = python(program, cwd=tmp_path)
    assert process.stdout.split() == ["local", "auto"], process.stderr
