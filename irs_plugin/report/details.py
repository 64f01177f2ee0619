"""What a report shows of a single model: its weakest latents, its settings, where its files are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irs_plugin.results.result import Result, read_object

if TYPE_CHECKING:
    import pandas as pd

MOST_LATENTS = 5


@dataclass(frozen=True)
class Latent:
    """A latent of a model.

    Attributes:
        index: among all latents, inactive ones included.
        score: its disentanglement score.
        parent: name, or else index, of the factor it follows most robustly.
        deviation: how far it moves at most from its mean; the normaliser of its score.
    """

    index: int
    score: float
    parent: str
    deviation: float


@dataclass(frozen=True)
class Latents:
    """The least robust latents of a model in one representation, by one evaluation."""

    dataset: str
    representation: str
    evaluation: str
    weakest: tuple[Latent, ...]
    active: int
    total: int
    reason: str


def weakest_latents(folder: Path, rows: pd.DataFrame) -> list[Latents]:
    """The latents with the lowest scores, for every result of the robustness score among a model's rows."""
    found = []
    for row in rows[rows.active.notna()].drop_duplicates("path").itertuples():
        try:
            scores = Result(folder, folder / row.path, read_object(folder / row.path)).scores
            latents = _latents(scores)
        except (ValueError, KeyError, TypeError, IndexError):
            # Another function's result, or one that changed since it was collected.
            continue
        total = len(scores["disentanglement_scores"])
        reason = str(scores.get("reason") or "")
        found.append(
            Latents(
                row.dataset, row.representation, row.evaluation, latents[:MOST_LATENTS], len(latents), total, reason
            )
        )
    return found


def _latents(scores: Mapping[str, Any]) -> tuple[Latent, ...]:
    """The active latents, the lowest score first."""
    names = scores.get("parent_names") or scores["parents"]
    latents = [
        Latent(index, float(score), str(names[index]), float(scores["max_deviations"][index]))
        for index, score in enumerate(scores["disentanglement_scores"])
        if scores["active"][index] and score is not None
    ]
    return tuple(sorted(latents, key=lambda latent: latent.score))


def place_of(folder: Path, path: str) -> str:
    """Folder of the model that a result belongs to, relative to `folder`."""
    return Result(folder, folder / path, {}).place[0]


def gin_file_of(folder: Path, path: str) -> Path:
    """The file with the training's settings that dlib lays beside a result."""
    return (folder / path).parents[1] / "gin" / "train.gin"


def split_settings(settings: Mapping[str, dict[str, str]]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Tell what all models have in common from what they differ in.

    Args:
        settings: model -> name -> value; models without any are passed over.

    Returns:
        Settings that are the same for all models, and for each model the others.
    """
    known = [bindings for bindings in settings.values() if bindings]
    counted = Counter(item for bindings in known for item in bindings.items())
    common = dict(sorted(item for item, count in counted.items() if count == len(known) > 1))
    return common, {model: _without(bindings, common) for model, bindings in settings.items()}


def _without(bindings: Mapping[str, str], common: Iterable[str]) -> dict[str, str]:
    return {name: value for name, value in sorted(bindings.items()) if name not in common}
