"""One result file of disentanglement_lib, and the settings behind it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from irs_plugin.results.gin_files import literal, read_bindings

_RESULTS = "evaluation_results."


@dataclass(frozen=True)
class Result:
    """Attributes:
    root: the folder that is collected.
    path: the file, below it.
    values: its content, a flat dictionary: ``train_config.…`` (texts), ``evaluation_results.…`` (JSON values), ….
    """

    root: Path
    path: Path
    values: dict[str, Any]
    _gin_files: dict[str, dict[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def scores(self) -> dict[str, Any]:
        """What the evaluation function returned, and dlib's ``elapsed_time`` and ``uuid``."""
        return {key[len(_RESULTS) :]: value for key, value in self.values.items() if key.startswith(_RESULTS)}

    def setting(self, step: str, name: str, *, optional: bool = False) -> Any:
        """A gin setting of a step, or None where it has none.

        dlib copies settings line by line into its results, which leaves a piece of those that gin broke over lines or
        that hold an equals sign. What is no whole value is taken from the gin file beside the results, and so is what
        is missing.

        Args:
            step: "train", "postprocess" or "evaluation".
            name: such as "model.name".
            optional: that it is missing is nothing unusual, and the gin file is not searched for it.
        """
        text = self.values.get(f"{step}_config.{name}")
        if text is None and not optional:
            text = self._bindings(step).get(name)
        if not isinstance(text, str):
            return text
        value = literal(text)
        broken = value == text and not text.startswith(("@", "%"))
        return literal(self._bindings(step).get(name, text)) if broken else value

    def settings(self, step: str) -> dict[str, Any]:
        """All settings of a step that its results hold."""
        prefix = f"{step}_config."
        names = (key[len(prefix) :] for key in self.values if key.startswith(prefix))
        return {name: self.setting(step, name) for name in names}

    def number(self, step: str, name: str, *, optional: bool = False) -> int | None:
        """A setting that is a whole number, or None."""
        return whole_number(self.setting(step, name, optional=optional))

    def text(self, step: str, name: str, *, optional: bool = False) -> str:
        """A setting that is a text or a reference, without its ``@``; empty where there is none."""
        value = self.setting(step, name, optional=optional)
        return value.lstrip("@") if isinstance(value, str) else ""

    def _bindings(self, step: str) -> dict[str, str]:
        if step not in self._gin_files:
            self._gin_files[step] = read_bindings(self.path.parents[1] / "gin" / f"{step}.gin")
        return self._gin_files[step]

    @cached_property
    def relative(self) -> str:
        """The file's path relative to the root."""
        return printable(self.path.relative_to(self.root))

    @cached_property
    def place(self) -> tuple[str, str, str]:
        """Model's folder relative to the root, representation and evaluation.

        In a study's layout, ``<model>/metrics/<representation>/<evaluation>/results``, folders tell all three. In any
        other the model's folder is the one above that which dlib_evaluate wrote, and the last two are empty.
        """
        *below, _, _, _ = self.relative.split("/") if self.relative.count("/") > 1 else ["", "", ""]
        whole = [*Path(os.path.abspath(self.root)).parts, *below]
        if len(whole) > 3 and whole[-3] == "metrics":
            return "/".join(below[:-3]) or ".", *whole[-2:]
        return "/".join(below[:-1]) or ".", "", ""

    @cached_property
    def function(self) -> str:
        """Name of the evaluation function, that which `with_factor_names` wraps for it."""
        name = self.text("evaluation", "evaluation.evaluation_fn")
        return self.text("evaluation", "with_factor_names.evaluation_fn") if name == "with_factor_names" else name

    @property
    def evaluation(self) -> str:
        """The evaluation's gin name, else what the layout says, else its function."""
        return self.text("evaluation", "evaluation.name") or self.place[2] or self.function

    @property
    def representation(self) -> str:
        named = self.place[1] or self.text("postprocess", "postprocess.name")
        return named or self.text("postprocess", "postprocess.postprocess_fn").removesuffix("_representation")

    @cached_property
    def training(self) -> str:
        """Tells trainings apart: dlib's identifier, or all settings of the training where there is none."""
        identifier = self.values.get("train_results.uuid")
        return identifier if isinstance(identifier, str) else repr(sorted(self.settings("train").items(), key=str))


def whole_number(value: Any) -> int | None:
    """A value that is a whole number of 64 bits, or None."""
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return value if fits else None


def printable(path: Path) -> str:
    """A path as text that can be written as UTF-8; bytes of it that are none become escapes."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def read_result(root: Path, path: Path) -> Result:
    """Read a result file.

    Raises:
        ValueError: it cannot be read as a result of an evaluation; the message is the reason.
    """
    result = Result(root, path, read_object(path))
    if not result.scores:
        raise ValueError("there are no evaluation_results in it")
    if not result.function:
        raise ValueError("it does not say which evaluation function wrote it (evaluation_config.evaluation…)")
    return result


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Raises:
        ValueError: it cannot be read, or holds none; the message is the reason.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from error
    if not content.strip():
        raise ValueError("it is empty")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON, or breaks off: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"it holds a JSON {type(value).__name__}, not an object")
    return value
