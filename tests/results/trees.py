"""Trees of results in the exact shape of disentanglement_lib's, without running it."""

import json
from pathlib import Path

TRAINING = {
    "dataset.name": "'dsprites_full'",
    "encoder.encoder_fn": "@conv_encoder",
    "encoder.num_latent": "10",
    "model.batch_size": "64",
    "model.model": "@vae()",
    "model.model_num": "None",
    "model.name": "'beta_vae'",
    "model.random_seed": "0",
    "model.training_steps": "300000",
    "vae.beta": "4.0",
}
REPRESENTATION = {"postprocess.name": "'mean'", "postprocess.postprocess_fn": "@mean_representation"}


def write_result(folder, function, returned, *, name=None, training=None, settings=None, postprocess=None, uuid=None):
    """What dlib_evaluate leaves in a folder; returns the file that is collected.

    Args:
        function: name of the evaluation function.
        returned: what it returned.
        name: the evaluation's gin name; the function's if left out.
        training, settings, postprocess: settings of the three steps as gin's text, beside or instead of the usual
            ones; None leaves one out.
        uuid: of the training.
    """
    evaluation = {
        "dataset.name": "'dsprites_full'",
        "evaluation.evaluation_fn": f"@{function}",
        "evaluation.name": repr(function if name is None else name),
        "evaluation.random_seed": "0",
    }
    steps = {
        "train_config": _set({**TRAINING, **(training or {})}),
        "train_results": {"elbo": -100.5, "uuid": uuid or f"training-{sorted((training or {}).items())}"},
        "postprocess_config": _set({**REPRESENTATION, **(postprocess or {})}),
        "evaluation_config": _set({**evaluation, **(settings or {})}),
        "evaluation_results": {**returned, "elapsed_time": 12.5, "uuid": "5e2f"},
    }
    return write_flat(
        folder, {f"{step}.{key}": value for step, values in steps.items() for key, value in values.items()}
    )


def _set(settings):
    return {name: text for name, text in settings.items() if text is not None}


def write_flat(folder, flat):
    path = Path(folder, "results", "aggregate", "evaluation.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(flat, indent=2))
    return path


def by_method(name, model, seed=0, **swept):
    """Settings of a training by one of dlib's methods: ``by_method("dip_vae_i", "dip_vae", lambda_od=5.0)``."""
    values = {f"{model}.{parameter}": repr(value) for parameter, value in swept.items()}
    return {"vae.beta": None, "model.name": repr(name), "model.model": f"@{model}()", **values, **seeded(seed)}


def seeded(seed):
    return {"model.random_seed": str(seed)}
