"""``reproduce.STUDIES`` with this package's studies beside the library's own."""

from __future__ import annotations

import importlib

REASON = "no study of disentanglement_lib evaluates interventional robustness; 'dlib_reproduce --study' finds ours too"


def supply(path: str):
    from irs_plugin.studies.reproduce import studies

    module = importlib.import_module(path.partition(":")[0])
    return {**module.STUDIES, **studies()}
