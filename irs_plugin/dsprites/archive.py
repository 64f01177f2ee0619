"""An archive of rendered images with the place, keys, types and order of the original dSprites archive."""

from __future__ import annotations

import datetime
import math
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

import irs_plugin
from irs_plugin.dsprites.rendering import FACTOR_NAMES, FACTOR_SIZES, IMAGE_SIDE, render
from irs_plugin.whole_files import whole_file

ARCHIVE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"

# What an image and its labels take at most once compressed, with a margin.
_BYTES_PER_IMAGE = 120
_CHUNK = 4096


@dataclass(frozen=True)
class Variant:
    """Which of the original class indices of each of the five factors an archive holds."""

    name: str
    indices: tuple[tuple[int, ...], ...]

    @cached_property
    def latents_sizes(self) -> tuple[int, ...]:
        """Number of values of each factor, the constant color first."""
        return (1, *map(len, self.indices))

    @property
    def num_images(self) -> int:
        """Number of combinations."""
        return math.prod(self.latents_sizes)

    @property
    def title(self) -> str:
        """Title in the metadata."""
        return {"full": "dSprites rendered by irs_plugin", "small": "Small dSprites rendered by irs_plugin"}[self.name]

    def classes(self, rows: np.ndarray) -> np.ndarray:
        """Class indices `(n, 6)` within this archive of some of its rows; posY changes fastest."""
        return np.stack(np.unravel_index(rows, self.latents_sizes), axis=1).astype(np.int64)

    def possible_values(self) -> tuple[np.ndarray, ...]:
        """The values that each factor takes, the constant color first."""
        original = (
            np.arange(1.0, 4.0),
            np.linspace(0.5, 1, 6),
            np.linspace(0, 2 * np.pi, 40),
            *[np.linspace(0, 1, 32)] * 2,
        )
        return (np.ones(1), *(values[list(chosen)] for values, chosen in zip(original, self.indices, strict=True)))


FULL = Variant("full", tuple(tuple(range(size)) for size in FACTOR_SIZES))
_POSITIONS = (0, 4, 9, 13, 18, 22, 27, 31)
SMALL = Variant("small", ((0, 1, 2), (1, 3, 5), tuple(range(0, 40, 4)), _POSITIONS, _POSITIONS))


def archive_path(data_dir: str | os.PathLike | None = None) -> Path:
    """Where disentanglement_lib looks for the archive.

    Args:
        data_dir: what DISENTANGLEMENT_LIB_DATA will be; by default what it is, and the working directory without it.
    """
    root = os.environ.get("DISENTANGLEMENT_LIB_DATA", ".") if data_dir is None else data_dir
    return Path(root) / "dsprites" / ARCHIVE


def read_metadata(path: str | os.PathLike) -> dict[str, Any]:
    """Read what an archive, original or rendered, says about itself. The images stay unread.

    Raises:
        ValueError: the file is no dSprites archive.
    """
    try:
        # Pickled by the data set's authors under Python 2, hence the encoding; disentanglement_lib reads it so, too.
        with np.load(path, allow_pickle=True, encoding="latin1") as data:
            metadata = data["metadata"][()]
        tuple(metadata["latents_sizes"])
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{path} is no dSprites archive ({type(error).__name__}: {error}): move it away and render one"
        ) from error
    return metadata


def describe_archive(path: str | os.PathLike) -> str:
    """One line on an archive: its title, how many images, how many values of each factor.

    Raises:
        ValueError: the file is no dSprites archive.
    """
    metadata = read_metadata(path)
    sizes = [int(size) for size in metadata["latents_sizes"]]
    variant = next((f"{v.name}, " for v in (FULL, SMALL) if list(v.latents_sizes) == sizes), "")
    factors = ", ".join(f"{size} {name}" for name, size in zip(FACTOR_NAMES, sizes[1:], strict=False))
    return f"{metadata.get('title', 'untitled')} ({variant}{math.prod(sizes):,} images: {factors})"


def ensure_archive(variant: Variant = FULL, data_dir: str | os.PathLike | None = None) -> tuple[Path, bool]:
    """Render the archive unless there is one.

    Args:
        variant: `FULL` or `SMALL`.
        data_dir: as for `archive_path`.

    Returns:
        Where it lies, and whether it has been rendered just now. A file that is there is never changed.

    Raises:
        ValueError: what is there is another variant or no dSprites archive.
        OSError: too little free disk space.
    """
    path = archive_path(data_dir)
    if path.exists():
        _require_variant(path, variant)
        return path, False
    path.parent.mkdir(parents=True, exist_ok=True)
    _require_space(path.parent, variant)
    with whole_file(path) as draft, open(draft, "xb") as file:
        _write(file, variant)
    return path, True


def _require_variant(path: Path, variant: Variant) -> None:
    sizes = tuple(int(size) for size in read_metadata(path)["latents_sizes"])
    if sizes != variant.latents_sizes:
        raise ValueError(
            f"wanted the {variant.name} archive, with factor sizes {variant.latents_sizes}, but at {path} lies "
            f"{describe_archive(path)}: move it away, or choose another folder with --data_dir"
        )


def _require_space(folder: Path, variant: Variant) -> None:
    needed, free = variant.num_images * _BYTES_PER_IMAGE, shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            f"{folder} has {free / 2**20:.0f} MB left, but the {variant.name} archive needs up to "
            f"{needed / 2**20:.0f} MB: make room, or choose another folder with --data_dir"
        )


def _write(file: BinaryIO, variant: Variant) -> None:
    """Write all arrays, each in chunks, so that the images never are in memory together."""
    num = variant.num_images
    possible = variant.possible_values()
    originals = [np.array([0]), *map(np.array, variant.indices)]

    def look_up(tables: list | tuple, classes: np.ndarray) -> np.ndarray:
        return np.stack([table[column] for table, column in zip(tables, classes.T, strict=True)], axis=1)

    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = variant.title.encode()
        with archive.open("metadata.npy", "w") as member:
            np.lib.format.write_array(member, np.array(_metadata(variant), dtype=object), allow_pickle=True)
        _write_rows(archive, "latents_classes", np.int64, (num, 6), variant.classes)
        _write_rows(
            archive, "latents_values", np.float64, (num, 6), lambda rows: look_up(possible, variant.classes(rows))
        )
        _write_rows(
            archive,
            "imgs",
            np.uint8,
            (num, IMAGE_SIDE, IMAGE_SIDE),
            lambda rows: render(look_up(originals, variant.classes(rows))[:, 1:]),
        )


def _write_rows(
    archive: zipfile.ZipFile,
    key: str,
    dtype: type,
    shape: tuple[int, ...],
    make: Callable[[np.ndarray], np.ndarray],
) -> None:
    """Write an array whose rows with given numbers ``make`` returns."""
    from tqdm import tqdm

    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with (
        archive.open(f"{key}.npy", "w", force_zip64=True) as member,
        tqdm(desc=key, total=shape[0], unit="row", unit_scale=True) as bar,
    ):
        np.lib.format.write_array_header_1_0(member, header)
        for start in range(0, shape[0], _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, shape[0]))
            member.write(np.ascontiguousarray(make(rows), dtype=dtype).data)
            bar.update(len(rows))


def _metadata(variant: Variant) -> dict[str, Any]:
    """Metadata with the keys of the original; it says who drew these images."""
    names = ("color", *FACTOR_NAMES)
    fewer = "" if variant is FULL else " This is a small variant, with fewer values per factor than the original has."
    return {
        "date": datetime.date.today().isoformat(),
        "description": (
            "Binary images of a square, an ellipse or a heart, varying in scale, orientation and position. irs_plugin "
            "rendered them; the geometry follows the dSprites data set of Matthey, Higgins, Hassabis and Lerchner "
            "(2017), https://github.com/deepmind/dsprites-dataset, but single pixels can differ from the original "
            f"images.{fewer} latents_classes are indices into latents_possible_values."
        ),
        "version": irs_plugin.__version__,
        "latents_names": names,
        "latents_possible_values": dict(zip(names, variant.possible_values(), strict=True)),
        "latents_sizes": np.array(variant.latents_sizes, dtype=np.int64),
        "author": f"irs_plugin {irs_plugin.__version__}",
        "title": variant.title,
    }
