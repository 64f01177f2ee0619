"""A collection as files, and the table of scores back from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from irs_plugin.results.collection import Collection
from irs_plugin.results.table import COLUMNS

if TYPE_CHECKING:
    import pandas as pd


def write(collection: Collection, folder: str | os.PathLike) -> list[Path]:
    """Write ``scores.parquet``, ``scores.csv`` and ``results.json``.

    ``results.json`` is what ``dlib_aggregate_results`` writes, to be read by its ``load_aggregated_json_results``.
    Each file appears whole or stays as it was; folders are made.

    Returns:
        The files written: ``scores.parquet`` is not among them where pyarrow is not installed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[str, Callable[[Path], object]] = {
        "scores.csv": lambda path: collection.scores.to_csv(path, index=False),
        "results.json": lambda path: collection.flat.to_json(path),
    }
    if has_parquet():
        writers = {"scores.parquet": lambda path: collection.scores.to_parquet(path, engine="pyarrow"), **writers}
    for name, writer in writers.items():
        _write_whole(folder / name, writer)
    return [folder / name for name in writers]


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def _write_whole(path: Path, writer: Callable[[Path], object]) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        writer(draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_scores(path: str | os.PathLike) -> pd.DataFrame:
    """Read the table of scores back, from ``scores.parquet`` or ``scores.csv``, with its types."""
    import pandas as pd

    if Path(path).suffix == ".parquet":
        return pd.read_parquet(path, engine="pyarrow").astype(COLUMNS)
    missing = {name: [""] for name, kind in COLUMNS.items() if kind != "str"}
    return pd.read_csv(path, dtype=COLUMNS, keep_default_na=False, na_values=missing, float_precision="round_trip")
