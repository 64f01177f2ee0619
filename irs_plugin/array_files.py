"""Arrays of factors and codes as other programs saved them: npz, npy, csv and parquet files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SUFFIXES = (".npz", ".npy", ".csv", ".parquet")


@dataclass(frozen=True)
class Columns:
    """An array from a file, with what its columns are called.

    Attributes:
        values: `(num_rows, num_columns)` numbers; text has been replaced by its position in alphabetical order.
        names: of the columns.
        texts: for each column that held text, the texts in the order of their numbers.
    """

    values: np.ndarray
    names: tuple[str, ...]
    texts: dict[str, list[str]]

    def select(self, positions: Sequence[int]) -> Columns:
        """These columns only."""
        names = tuple(self.names[position] for position in positions)
        texts = {name: found for name, found in self.texts.items() if name in names}
        return Columns(self.values[:, list(positions)], names, texts)

    def rename(self, names: Sequence[str]) -> Columns:
        """The same columns under other names."""
        texts = {new: self.texts[old] for old, new in zip(self.names, names, strict=True) if old in self.texts}
        return Columns(self.values, tuple(names), texts)


def read_columns(
    path: str | os.PathLike,
    *,
    prefix: str,
    key: str | None = None,
    key_option: str = "key=…",
    header: bool | None = None,
    transpose: bool = False,
) -> Columns:
    """Read an array with one row per sample.

    Args:
        path: a file whose name ends in one of `SUFFIXES`.
        prefix: columns without a name become `prefix0`, `prefix1`, …
        key: which array of an npz file; needed if it holds several.
        key_option: how the user gives the key, for messages.
        header: whether the first line of a csv file holds names; None looks whether all of it are numbers.
        transpose: the file is laid out (columns, rows).

    Raises:
        FileNotFoundError: no such file.
        ValueError: another kind of file, a damaged one, several arrays and no key, or more than two dimensions.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path} is none of {', '.join(SUFFIXES)}; save the array as one of these.")
    if key is not None and suffix != ".npz":
        raise ValueError(f"a key ({key!r}) chooses an array of an npz file; {path} is none.")
    if suffix in (".npz", ".npy"):
        array = _read_numpy(path, key, key_option)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"{path} holds an array of shape {array.shape}; expected (num_samples, num_columns).")
        array = array.T if transpose else array
        return _columns(list(array.T), [f"{prefix}{k}" for k in range(array.shape[1])], len(array))
    if transpose:
        raise ValueError(f"only npz and npy files can be read transposed; {path} is a table with named columns.")
    table = _read_table(path, header)
    named = not all(isinstance(name, int) for name in table.columns)
    names = [str(name) if named else f"{prefix}{k}" for k, name in enumerate(table.columns)]
    return _columns([table.iloc[:, k].to_numpy() for k in range(table.shape[1])], names, len(table))


def _read_numpy(path: Path, key: str | None, key_option: str) -> np.ndarray:
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            return loaded
        with loaded:
            names = ", ".join(loaded.files)
            if key is None and len(loaded.files) == 1:
                key = loaded.files[0]
            if key not in loaded.files:
                wanted = "choose one by its key" if key is None else f"none is called {key!r}"
                raise _Unreadable(f"{path} holds the arrays {names or '(none)'}; {wanted} ({key_option}).")
            return loaded[key]
    except _Unreadable:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise _Unreadable(f"{path} cannot be read as a NumPy array of numbers or text: {_first_line(error)}") from error


class _Unreadable(ValueError):
    pass


def _read_table(path: Path, header: bool | None) -> Any:
    import pandas

    try:
        if path.suffix.lower() == ".parquet":
            return pandas.read_parquet(path)
        if header is None:
            first = pandas.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False)
            header = not all(_is_number(entry) for entry in first.iloc[0])
        return pandas.read_csv(path, header=0 if header else None)
    except ImportError as error:
        raise ValueError(
            f"reading {path} needs pyarrow: pip install pyarrow, or save the table as csv ({_first_line(error)})."
        ) from error
    except (ValueError, OSError) as error:
        kind = path.suffix.lower().removeprefix(".")
        raise ValueError(f"{path} cannot be read as a {kind} table: {_first_line(error)}") from error


def _is_number(entry: str) -> bool:
    try:
        float(entry)
    except ValueError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _columns(columns: list[np.ndarray], names: list[str], num_rows: int) -> Columns:
    texts: dict[str, list[str]] = {}
    numbers = []
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind in "iufb":
            numbers.append(column)
            continue
        if any(entry is None or entry != entry for entry in column):
            raise ValueError(f"column {name!r} has missing entries among its texts; drop those rows or fill them in.")
        found, codes = np.unique(column.astype(str), return_inverse=True)
        texts[name] = found.tolist()
        numbers.append(codes)
    values = np.column_stack(numbers) if numbers else np.empty((num_rows, 0))
    return Columns(values, tuple(names), texts)


def positions(wanted: str, names: Sequence[str], what: str) -> list[int]:
    """Turn a comma-separated list of names, or of positions from 0, into positions; `all` and the empty list work.

    Raises:
        ValueError: something that is neither a name nor a position.
    """
    if wanted == "all":
        return list(range(len(names)))
    found = []
    for entry in filter(None, (part.strip() for part in wanted.split(","))):
        if entry in names:
            found.append(list(names).index(entry))
        elif entry.isdigit() and int(entry) < len(names):
            found.append(int(entry))
        else:
            raise ValueError(
                f"there is no {what} {entry!r}; there are {', '.join(names)} (or 0 to {len(names) - 1} by position)."
            )
    return found


def check_writable(path: str | os.PathLike) -> None:
    """Raise ValueError if a file of this name could not be written, so that long work does not end in vain."""
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no directory {path.parent}")
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a directory")
    if not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"cannot write {path}: no permission to write into {path.parent}")
