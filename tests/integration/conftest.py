"""A model trained for a moment by the stock scripts, for everything that evaluates one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from irs_plugin.dlib import hook

# Whether or not the package is installed in this environment, dlib's modules import.
hook.install()

# Noise images with ten factors of five values: no archive to load, so a run costs little but TensorFlow's start.
BRIEFLY = {
    "dataset.name": "'dummy_data'",
    "model.training_steps": "2",
    "model.eval_steps": "1",
    "model.batch_size": "4",
}


def run_script(name, *flags, bindings=None, cwd=None, check=True):
    """Run one of dlib's scripts by its own name, as a user would."""
    script = Path(sys.executable).with_name(name)
    command = [str(script), *flags]
    for key, value in (bindings or {}).items():
        command += ["--gin_bindings", f"{key} = {value}"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beta_vae")
    path = folder / "model"
    run_script("dlib_train", "--gin_config=models/beta_vae.gin", f"--model_dir={path}", bindings=BRIEFLY, cwd=folder)
    return path


@pytest.fixture(scope="session")
def representation(model):
    path = model.with_name("mean")
    flags = ("--gin_config=postprocess/mean.gin", f"--model_dir={model}", f"--output_dir={path}")
    run_script("dlib_postprocess", *flags, cwd=model.parent)
    return path
