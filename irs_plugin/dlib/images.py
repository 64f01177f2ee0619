"""Images of a data set that remember their indices, are kept small, and are unpacked when somebody looks at them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Images read at a time.
_CHUNK = 4096


class Images:
    """The images of a data set; asked for by index, they come as `Observations`.

    Attributes:
        shape: `(num_images, …)`.
        dtype: of the images.
        nbytes: memory that they take.
    """

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.shape, self.dtype, self.nbytes = array.shape, array.dtype, array.nbytes

    def take(self, indices: np.ndarray) -> np.ndarray:
        """A new array of the images with these indices, `(len(indices), …)`."""
        return self._array[indices]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.take(np.arange(len(self))).astype(dtype or self.dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        indices = isinstance(key, np.ndarray) and key.ndim == 1 and key.size and key.dtype.kind in "iu"
        if indices and key.min() >= 0 and key.max() < len(self):
            return Observations(self, key.copy(), self.dtype, self.shape[1:])
        return np.asarray(self)[key]


class BinaryImages(Images):
    """Images of zeros and ones, `(num_images, …)` of uint8, that take a bit a pixel.

    Args:
        bits: `(num_images, bytes per image)` of uint8, from `numpy.packbits`.
        shape: shape of one image.
    """

    def __init__(self, bits: np.ndarray, shape: tuple[int, ...]) -> None:
        self._bits = bits
        self.shape, self.dtype, self.nbytes = (len(bits), *shape), np.dtype(np.uint8), bits.nbytes

    def take(self, indices: np.ndarray) -> np.ndarray:
        """A new array of the images with these indices, `(len(indices), …)`."""
        pixels = np.unpackbits(self._bits[indices], axis=1, count=math.prod(self.shape[1:]))
        return pixels.reshape(len(indices), *self.shape[1:])


def read_binary_images(member: Any) -> BinaryImages | None:
    """Read images of zeros and ones in chunks, so that memory never holds more than one chunk unpacked.

    Args:
        member: file object at the start of an array in NumPy's own format.

    Returns:
        The images, or None if there is anything but zeros and ones of uint8, in C order.
    """
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(member)
    if version not in read_header:
        return None
    (num, *shape), fortran_order, dtype = read_header[version](member)
    if dtype != np.uint8 or fortran_order:
        return None
    pixels = math.prod(shape)
    bits = np.empty((num, -(-pixels // 8)), np.uint8)
    for start in range(0, num, _CHUNK):
        stop = min(start + _CHUNK, num)
        chunk = np.frombuffer(member.read((stop - start) * pixels), np.uint8).reshape(stop - start, pixels)
        if chunk.max() > 1:
            return None
        bits[start:stop] = np.packbits(chunk, axis=1)
    return BinaryImages(bits, tuple(shape))


class Observations(np.lib.mixins.NDArrayOperatorsMixin):
    """A batch of images of a data set that stands for its array wherever NumPy takes one.

    It stays a list of indices through what data sets and metrics do to a batch on its way to the encoder: conversion
    to float, a new axis, slices along the first axis, concatenation. Anything else gives plain arrays, which nobody
    takes for images of the data set.

    Args:
        images: where they come from.
        indices: `(n,)` within bounds.
        dtype: of the pixels.
        shape: of one observation.
    """

    def __init__(self, images: Images, indices: np.ndarray, dtype: Any, shape: tuple[int, ...]) -> None:
        self.images, self.indices = images, indices
        self.dtype, self.shape = np.dtype(dtype), (len(indices), *shape)

    @property
    def form(self) -> tuple:
        """What, together with the index, an observation is determined by."""
        return self.images, self.dtype, self.shape[1:]

    def of(self, indices: np.ndarray) -> Observations:
        """Other observations of the same form."""
        return Observations(self.images, indices, self.dtype, self.shape[1:])

    def astype(self, dtype: Any, **options: Any) -> Any:
        """The same in another type, lazily if it is the first conversion."""
        if options or self.dtype != self.images.dtype:
            return np.asarray(self).astype(dtype, **options)
        return Observations(self.images, self.indices, dtype, self.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        pixels = self.images.take(self.indices).astype(self.dtype, copy=False).reshape(self.shape)
        return pixels.astype(dtype or self.dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.of(self.indices[key])
        if isinstance(key, (int, np.integer)):
            return np.asarray(self.of(self.indices[[key]]))[0]
        return np.asarray(self)[key]

    def __iter__(self) -> Any:
        return iter(np.asarray(self))

    def __getattr__(self, name: str) -> Any:
        # NumPy and copy look for protocols by names with underscores, and must not find those of a passing array.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        # In place, as in `observations *= 2`: the name is bound to the result, a plain array.
        if any(isinstance(out, Observations) for out in options.get("out", ())):
            del options["out"]
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: tuple, options: dict) -> Any:
        if function is np.expand_dims and args[0] is self:
            axis = args[1] if len(args) > 1 else options["axis"]
            if isinstance(axis, int) and axis % (len(self.shape) + 1):
                shape = list(self.shape)
                shape.insert(axis % (len(self.shape) + 1), 1)
                return Observations(self.images, self.indices, self.dtype, tuple(shape[1:]))
        if function is np.concatenate and len(args) == 1 and not options:
            parts = args[0]
            if all(isinstance(part, Observations) and part.form == self.form for part in parts):
                return self.of(np.concatenate([part.indices for part in parts]))
        return function(*map(_plain, args), **{name: _plain(value) for name, value in options.items()})


def _plain(value: Any) -> Any:
    """The same with an array in place of every batch of observations."""
    if isinstance(value, Observations):
        return np.asarray(value)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value
