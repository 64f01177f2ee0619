"""The doctor's report."""

from __future__ import annotations

from irs_plugin.dlib.registry import STAND_INS


def test_reports_everything(python, tmp_path):
    (tmp_path / "dsprites").mkdir()
    process = python("-m", "irs_plugin.cli", "doctor", DISENTANGLEMENT_LIB_DATA=str(tmp_path))
    assert process.returncode == 0, process.stdout + process.stderr
    for stand_in in STAND_INS:
        assert ", ".join(stand_in.paths) in process.stdout
        assert stand_in.reason in process.stdout
    for line in ("tf_keras", "on: disentanglement_lib finds its stand-ins", "folders there: dsprites"):
        assert line in process.stdout
    assert "accelerator\n  " in process.stdout
    assert process.stdout.endswith("problems\n  none found\n")


def test_an_archive_that_is_none_is_a_problem(python, tmp_path):
    archive = tmp_path / "dsprites" / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    archive.parent.mkdir()
    archive.write_bytes(b"x" * 2**20)
    process = python("-m", "irs_plugin.cli", "doctor", DISENTANGLEMENT_LIB_DATA=str(tmp_path))
    assert process.returncode == 1
    assert f"{archive} is no dSprites archive" in process.stdout


def test_says_how_to_get_what_is_missing(python, tmp_path):
    process = python("-m", "irs_plugin.cli", "doctor", cwd=tmp_path, IRS_PLUGIN_HOOK="0", DISENTANGLEMENT_LIB_DATA="")
    assert "off: switched off by IRS_PLUGIN_HOOK=0; 'irs_plugin run SCRIPT' does without" in process.stdout
    assert "'irs_plugin dsprites' renders one" in process.stdout
    assert "not set, so disentanglement_lib looks in the working directory" in process.stdout
