"""What a sweep has to do: every step of every model, where its result goes, and whether it is there already.

Folders, gin bindings and random seeds are those of ``dlib_reproduce``, so that one model of a sweep is what that script
makes of it. Nothing here imports disentanglement_lib.
"""

from __future__ import annotations

import ast
import glob
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from irs_plugin.config_files import config_root
from irs_plugin.studies import Study
from irs_plugin.studies.definitions import Bindings

TRAIN, VISUALIZE, POSTPROCESS, METRICS = "train", "visualize", "postprocess", "metrics"


@dataclass(frozen=True)
class Step:
    """One thing to be done for a model.

    Attributes:
        name: ``train``, ``visualize``, ``postprocess/<representation>`` or ``metrics/<representation>/<metric>``.
        source: Folder that the step reads; None for training.
        folder: Folder of its result. It appears when it is complete, by a rename.
        mark: File in that folder that tells a complete result, also one that stock scripts wrote; None if any will do.
        config: Gin file.
        bindings: Gin bindings.
        needs: Name of the step that comes before.
    """

    name: str
    source: Path | None
    folder: Path
    mark: str | None
    config: Path | None = None
    bindings: Bindings = ()
    needs: str | None = None

    @property
    def kind(self) -> str:
        """What is done, without to what."""
        return self.name.partition("/")[0]

    def is_complete(self) -> bool:
        """Tell whether the result is there, whole."""
        if self.mark is None:
            return self.folder.is_dir()
        try:
            return isinstance(json.loads((self.folder / self.mark).read_text(encoding="utf-8")), dict)
        except (OSError, ValueError):
            return False


@dataclass(frozen=True)
class Model:
    """A model and its steps, in order.

    Attributes:
        name: Name of its folder below the output folder; of the models of a study, their numbers.
        folder: That folder.
        steps: What is to be done.
        trained: Folder of the model if it is not trained here.
        bindings: What sets it apart from the study's other models.
    """

    name: str
    folder: Path
    steps: tuple[Step, ...]
    trained: Path | None = None
    bindings: Bindings = ()

    def missing(self) -> list[Step]:
        """The steps whose results are not there."""
        return [step for step in self.steps if not step.is_complete()]

    @property
    def label(self) -> str:
        """Method, swept hyperparameters and seed in a few words."""
        if self.trained is not None:
            return str(self.trained)
        shown = ("model.name", "dataset.name", "model.random_seed")
        values = [value.strip("'") for key, value in map(_key_and_value, self.bindings) if key in shown]
        swept = [f"{key.partition('.')[2]} {value}" for key, value in map(_key_and_value, self.bindings) if _swept(key)]
        return ", ".join([*values[:-1], *swept, f"seed {values[-1]}"]) if values else self.name


@dataclass(frozen=True)
class Plan:
    """All models of a sweep.

    Attributes:
        name: Name of the study.
        output: Folder of everything.
        models: The models, in order.
        record: What ``study.json`` says of it: models and bindings, gin files and digests of their contents.
    """

    name: str
    output: Path
    models: tuple[Model, ...]
    record: dict

    def check_against_record(self, path: Path) -> dict:
        """Merge with what an earlier sweep into the same folder was.

        Returns:
            The record to be kept, the earlier sweep's other models included.

        Raises:
            ValueError: the folder holds something else under the same names.
        """
        if not path.exists():
            return self.record
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
            models, configs, study = earlier["models"], earlier["configs"], earlier["study"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is not the record of a sweep: remove it or choose another --output") from None
        remedy = "choose another --output, or remove what is out of date"
        if study != self.name:
            raise ValueError(f"{self.output} holds the study {study!r}, not {self.name!r}: {remedy}")
        for model in self.models:
            bindings = self.record["models"][model.name]
            begun = next((step.folder for step in model.steps if step.folder.exists()), None)
            if models.get(model.name, bindings) != bindings and begun is not None:
                raise ValueError(f"{begun} was made by {models[model.name]}, not by {bindings}: {remedy}")
        changed = {
            entry["path"]
            for name, entry in self.record["configs"].items()
            if configs.get(name, entry)["sha256"] != entry["sha256"]
        }
        for step in (step for model in self.models for step in model.steps if str(step.config) in changed):
            if step.is_complete():
                raise ValueError(
                    f"{step.config}, or what it includes, has changed since {step.folder} was made: {remedy}"
                )
        return {
            **self.record,
            "models": {**models, **self.record["models"]},
            "configs": {**configs, **self.record["configs"]},
        }


def plan_study(
    study: Study,
    output: Path,
    *,
    only: Iterable[int] | None = None,
    where: Sequence[str] = (),
    model_bindings: Sequence[str] = (),
    metric_bindings: Sequence[str] = (),
    visualize: bool = True,
) -> Plan:
    """Plan the models of a study.

    Args:
        study: The study.
        output: Folder that receives ``<model number>/model`` and so on.
        only: Numbers of the models to be done; all by default.
        where: ``key=value`` for bindings that a model must have, such as ``dataset.name=dsprites_full``.
        model_bindings: Gin bindings that are added to every model's, such as ``model.training_steps = 1000``.
        metric_bindings: Gin bindings that are added to every metric's.
        visualize: Whether to make dlib's pictures of each model.

    Raises:
        ValueError: a number that the study does not have, or no model left.
    """
    numbers = range(len(study.models)) if only is None else sorted(set(only))
    unknown = [number for number in numbers if not 0 <= number < len(study.models)]
    if unknown:
        raise ValueError(f"{study.name} has models 0 to {len(study.models) - 1}, not {unknown}")
    conditions = [_condition(text) for text in where]
    chosen = [number for number in numbers if all(_meets(study.models[number], c) for c in conditions)]
    if not chosen:
        raise ValueError(f"no model of {study.name} has {' and '.join(where)}; its first has {study.models[0]}")
    models = []
    for number in chosen:
        folder = output / str(number)
        # As dlib_reproduce binds them: the study's own come last and win.
        bindings = (
            f"model.name = '{study.model_config.stem}'",
            f"model.model_num = {number}",
            *study.models[number],
            *model_bindings,
        )
        train = Step(TRAIN, None, folder / "model", "results/aggregate/train.json", study.model_config, bindings)
        later = _after_training(study, folder, folder / "model", metric_bindings, visualize, TRAIN)
        models.append(Model(str(number), folder, (train, *later), None, (*study.models[number], *model_bindings)))
    return _plan(study, output, models, metric_bindings)


def plan_trained(
    patterns: Sequence[str],
    study: Study,
    output: Path,
    *,
    metric_bindings: Sequence[str] = (),
    visualize: bool = True,
) -> Plan:
    """Plan the evaluation of models that are trained already, here or elsewhere.

    Args:
        patterns: Glob patterns of model folders, each with ``tfhub`` and ``results`` as ``dlib_train`` leaves them.
        study: Which representations and metrics.
        output: Folder that receives ``<name>/postprocessed`` and so on.
        metric_bindings: Gin bindings that are added to every metric's.
        visualize: Whether to make dlib's pictures of each model.

    Raises:
        ValueError: nothing matches, or something that does is no trained model.
    """
    found = sorted({Path(path).resolve() for pattern in patterns for path in glob.glob(pattern, recursive=True)})
    folders = [path for path in found if path.is_dir()]
    if not folders:
        raise ValueError(
            f"no folder matches {' '.join(patterns)}: name folders that dlib_train wrote, such as 'runs/*/model'"
        )
    for path in folders:
        for need in ("tfhub", "results/gin/train.gin"):
            if not (path / need).exists():
                raise ValueError(f"{path} is no trained model, it has no {need}: name folders that dlib_train wrote")
    models = []
    for name, path in zip(_names(folders), folders, strict=True):
        folder = output / name
        steps = _after_training(study, folder, path, metric_bindings, visualize, None)
        models.append(Model(name, folder, tuple(steps), path))
    return _plan(study, output, models, metric_bindings)


def _after_training(
    study: Study, folder: Path, model: Path, metric_bindings: Sequence[str], visualize: bool, needs: str | None
) -> list[Step]:
    """Pictures, representations and metrics, with the seeds that dlib_reproduce gives them."""
    random_state = np.random.RandomState(0)
    steps = [Step(VISUALIZE, model, folder / "visualizations", None, needs=needs)] if visualize else []
    representations = sorted(study.postprocess_configs)
    for config in representations:
        seed = random_state.randint(2**32)
        bindings = (f"postprocess.random_seed = {seed}", f"postprocess.name = '{config.stem}'")
        target, mark = folder / "postprocessed" / config.stem, "results/aggregate/postprocess.json"
        steps.append(Step(f"{POSTPROCESS}/{config.stem}", model, target, mark, config, bindings, needs))
    for representation in representations:
        for config in sorted(study.metric_configs):
            seed = random_state.randint(2**32)
            name = representation.stem
            bindings = (
                *metric_bindings,
                f"evaluation.random_seed = {seed}",
                f"evaluation.name = '{config.stem}'",
            )
            source, target = folder / "postprocessed" / name, folder / "metrics" / name / config.stem
            mark = "results/aggregate/evaluation.json"
            step = Step(
                f"{METRICS}/{name}/{config.stem}", source, target, mark, config, bindings, f"{POSTPROCESS}/{name}"
            )
            steps.append(step)
    return steps


def _plan(study: Study, output: Path, models: Sequence[Model], metric_bindings: Sequence[str]) -> Plan:
    configs = [study.model_config, *study.postprocess_configs, *study.metric_configs]
    names = [path.stem for path in study.metric_configs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two metrics are called {', '.join(twice)}: give the gin files different names")
    digests = {path: _digest(path, metric_bindings if path in study.metric_configs else ()) for path in configs}
    record = {
        "study": study.name,
        "models": {m.name: list(m.bindings) if m.trained is None else [f"trained in {m.trained}"] for m in models},
        "postprocess": [path.stem for path in sorted(study.postprocess_configs)],
        "metrics": [path.stem for path in sorted(study.metric_configs)],
        "configs": {
            f"{path.parent.name}/{path.name}": {"path": str(path), "sha256": digest} for path, digest in digests.items()
        },
    }
    return Plan(study.name, output, tuple(models), record)


def _digest(path: Path, bindings: Sequence[str]) -> str:
    """Digest of a gin file, of all that it includes, and of the bindings that go with it."""
    digest = hashlib.sha256("\n".join(bindings).encode())
    waiting, seen = [path], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if not current.exists():
            raise ValueError(f"there is no gin file {current}")
        text = current.read_text(encoding="utf-8")
        digest.update(text.encode())
        for included in re.findall(r"""^include\s+["'](.+)["']""", text, re.MULTILINE):
            beside, installed = Path(included), config_root() / included
            waiting.append(beside if beside.exists() else installed)
    return digest.hexdigest()


def _names(folders: Sequence[Path]) -> list[str]:
    """Short names that tell folders apart: what they do not share, without a closing 'model'."""
    parts = [path.parts[:-1] if path.name == "model" else path.parts for path in folders]
    if len(set(parts)) < len(parts):
        parts = [path.parts for path in folders]
    shared = 0
    while all(len(p) > shared + 1 for p in parts) and len({p[shared] for p in parts}) == 1:
        shared += 1
    names = ["_".join(part[shared:]) for part in parts]
    if len(set(names)) < len(names):
        names = ["__".join(part[shared:]) for part in parts]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two of the models would be called {twice}: rename a folder, or evaluate them one by one")
    return names


def _condition(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no condition: write KEY=VALUE, such as model.name=beta_vae")
    return key.strip(), _literal(value)


def _meets(bindings: Bindings, condition: tuple[str, object]) -> bool:
    return condition in [(key, _literal(value)) for key, value in map(_key_and_value, bindings)]


def _key_and_value(binding: str) -> tuple[str, str]:
    key, _, value = binding.partition("=")
    return key.strip(), value.strip()


def _literal(text: str) -> object:
    """A gin value as Python has it; what is no literal, such as a name without quotes, as text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def _swept(key: str) -> bool:
    """Tell whether a binding is a hyperparameter of the method."""
    return key in ("vae.beta", "factor_vae.gamma", "dip_vae.lambda_od", "beta_tc_vae.beta", "annealed_vae.c_max")
