"""A study that is done in a minute: noise images, a few updates, small samples."""

METRICS = {
    "irs_chance": """
include "metrics/irs_chance.gin"
interventional_robustness.num_train = 200
interventional_robustness.num_permutations = 10
""",
    "sap_score": """
include "metrics/sap_score.gin"
sap_score.num_train = 100
sap_score.num_test = 50
""",
    "dci": """
include "metrics/dci.gin"
dci.num_train = 30
dci.num_test = 30
""",
}

MODELS = tuple(
    (
        "dataset.name = 'dummy_data'",
        f"model.name = '{name}'",
        f"model.model = {model}",
        *bindings,
        "model.training_steps = 6",
        "model.eval_steps = 1",
        "model.batch_size = 4",
        f"model.random_seed = {seed}",
    )
    for name, model, bindings, seed in (
        ("beta_vae", "@vae()", ("vae.beta = 4.0",), 0),
        (
            "factor_vae",
            "@factor_vae()",
            ("factor_vae.gamma = 10.0", "discriminator.discriminator_fn = @fc_discriminator"),
            1,
        ),
        ("beta_vae", "@vae()", ("vae.beta = 16.0",), 2),
    )
)


def write_metrics(folder, metrics=METRICS):
    """Write metric gin files and return their paths, sorted."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in metrics.items():
        (folder / f"{name}.gin").write_text(text.strip() + "\n", encoding="utf-8")
    return tuple(sorted(folder / f"{name}.gin" for name in metrics))
