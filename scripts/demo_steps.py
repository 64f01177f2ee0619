"""Train, represent and score two models with stock disentanglement_lib scripts, and print one table.

Run by scripts/demo. Every step writes to a folder of its own under a temporary name, which is renamed when the step is
complete; complete steps are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODELS = {"beta_vae": "beta-VAE", "factor_vae": "FactorVAE"}
TRAINING_STEPS = 1000
# Metric -> heading, and the entry of its results that the table shows.
METRICS = {
    "irs_paper": ("IRS", "IRS"),
    "beta_vae_sklearn": ("BetaVAE", "eval_accuracy"),
    "factor_vae_metric": ("FactorVAE", "eval_accuracy"),
    "mig": ("MIG", "discrete_mig"),
    "sap_score": ("SAP", "SAP_score"),
    "dci": ("DCI", "disentanglement"),
    "modularity_explicitness": ("Modularity", "modularity_score"),
}


def stock_script(name: str) -> list[str]:
    """The command of one of disentanglement_lib's own scripts, as pip installed it."""
    return [sys.executable, str(Path(sys.executable).with_name(name))]


class Demo:
    """The demo's folders and steps."""

    def __init__(self, output: Path) -> None:
        self.output = output.resolve()
        self.data = self.output / "data"
        self.environment = {
            **os.environ,
            "DISENTANGLEMENT_LIB_DATA": str(self.data),
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "PYTHONWARNINGS": "ignore",
        }

    def run(self) -> None:
        """All steps, the two models side by side, and the table."""
        subprocess.run(
            [str(Path(sys.executable).with_name("irs_plugin")), "dsprites", "--small", "--data_dir", str(self.data)],
            check=True,
        )
        with ThreadPoolExecutor(len(MODELS)) as pool:
            list(pool.map(self.one_model, MODELS))
        print(self.table())

    def one_model(self, model: str) -> None:
        """Train, extract the mean representation, evaluate all metrics."""
        folder = self.output / model
        self.step(
            f"{MODELS[model]}: training {TRAINING_STEPS} steps",
            folder / "model",
            lambda target: [
                *stock_script("dlib_train"),
                f"--gin_config=models/{model}.gin",
                f"--gin_bindings=model.training_steps = {TRAINING_STEPS}",
                f"--model_dir={target}",
            ],
        )
        self.step(
            f"{MODELS[model]}: extracting the mean representation",
            folder / "representation",
            lambda target: [
                *stock_script("dlib_postprocess"),
                "--gin_config=postprocess/mean.gin",
                f"--input_dir={folder / 'model'}",
                f"--output_dir={target}",
            ],
        )
        self.step(
            f"{MODELS[model]}: evaluating {len(METRICS)} metrics",
            folder / "metrics",
            lambda target: [
                *stock_script("dlib_evaluate"),
                f"--gin_evaluation_config_glob={demo_configs()}/*.gin",
                f"--input_dir={folder / 'representation'}",
                f"--output_dir={target}",
            ],
        )

    def step(self, title: str, target: Path, command) -> None:
        """Run a command that fills `target`, unless it is there."""
        if target.exists():
            print(f"{title}: done before", flush=True)
            return
        partial, log = target.with_suffix(".partial"), target.with_suffix(".log")
        shutil.rmtree(partial, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"{title} …", flush=True)
        start = time.monotonic()
        with log.open("w") as stream:
            done = subprocess.run(command(partial), env=self.environment, stdout=stream, stderr=subprocess.STDOUT)
        if done.returncode:
            tail = "\n".join(log.read_text().splitlines()[-15:])
            raise SystemExit(f"{title} failed with status {done.returncode}; the end of {log}:\n{tail}")
        partial.rename(target)
        print(f"{title}: {time.monotonic() - start:.0f} s", flush=True)

    def table(self) -> str:
        """Models as rows, metrics as columns, and where the files lie."""
        lines = ["", f"{'':<10}" + "".join(f"{heading:>12}" for heading, _ in METRICS.values())]
        for model, title in MODELS.items():
            scores = [f"{self.score(model, metric):>12.3f}" for metric in METRICS]
            lines.append(f"{title:<10}" + "".join(scores))
        lines += [
            "",
            f"After {TRAINING_STEPS} steps on few images and with small samples these numbers show that all works",
        ]
        lines += ["and nothing about the methods. 1 is best in every column.", ""]
        lines += [f"data             {self.data}"]
        for model, title in MODELS.items():
            folder = self.output / model
            lines += [
                f"{title:<10} model {folder / 'model'}",
                f"{'':<10} codes {folder / 'representation'}",
                f"{'':<10} scores {folder / 'metrics' / '<metric>' / 'results' / 'json' / 'evaluation_results.json'}",
            ]
        return "\n".join(lines)

    def score(self, model: str, metric: str) -> float:
        """One number of the table, from the file that stock dlib_evaluate wrote."""
        results = self.output / model / "metrics" / metric / "results" / "json" / "evaluation_results.json"
        return json.loads(results.read_text())[METRICS[metric][1]]


def demo_configs() -> Path:
    """The folder of the demo's gin files in the installed package."""
    from irs_plugin.config_files import config_root

    return config_root() / "demo"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="folder for data, models and scores")
    Demo(parser.parse_args().output).run()
