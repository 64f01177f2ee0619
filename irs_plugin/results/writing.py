"""A collection as files, and the table of scores back from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from irs_plugin.results.collection import Collection
from irs_plugin.results.table import COLUMNS
from irs_plugin.whole_files import whole_file

if TYPE_CHECKING:
    import pandas as pd

PARQUET = "scores.parquet"


def write(collection: Collection, folder: str | os.PathLike) -> list[Path]:
    """Write ``scores.parquet``, ``scores.csv`` and ``results.json``.

    ``results.json`` is what ``dlib_aggregate_results`` writes, to be read by its ``load_aggregated_json_results``.
    Each file appears whole or stays as it was; folders are made.

    Returns:
        The files written: ``scores.parquet`` is not among them where pyarrow is not installed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        _write(folder / "scores.csv", partial(collection.scores.to_csv, index=False)),
        _write(folder / "results.json", collection.flat.to_json),
    ]
    try:
        written.append(_write(folder / PARQUET, partial(collection.scores.to_parquet, engine="pyarrow")))
    except ImportError:
        # pandas says so of no pyarrow, and of one that is too old for it.
        return written
    return written


def _write(path: Path, writer: Callable[[Path], object]) -> Path:
    with whole_file(path) as draft:
        writer(draft)
    return path


def read_scores(path: str | os.PathLike) -> pd.DataFrame:
    """Read the table of scores back, from ``scores.parquet`` or ``scores.csv``, with its types."""
    import pandas as pd

    if Path(path).suffix == ".parquet":
        return pd.read_parquet(path, engine="pyarrow").astype(COLUMNS)
    # pandas 2 rounds the last digit of a number that it reads as such.
    floats = [name for name, kind in COLUMNS.items() if kind == "float64"]
    missing = {name: [""] for name, kind in COLUMNS.items() if kind == "Int64"}
    texts = pd.read_csv(path, dtype=COLUMNS | dict.fromkeys(floats, "str"), keep_default_na=False, na_values=missing)
    return texts.assign(**{name: texts[name].replace("", "nan") for name in floats}).astype(COLUMNS)
