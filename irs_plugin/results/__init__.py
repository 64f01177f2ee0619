"""Reading what disentanglement_lib's pipeline wrote: one tidy table of scores from any number of result folders.

    collection = irs_plugin.results.collect("output/irs_study_v1")
    collection.scores.groupby(["method", "metric"]).score.mean()

Neither TensorFlow, gin nor disentanglement_lib is imported by it.
"""

from irs_plugin.results.collection import NOTHING, Collection, Duplicate, Failure, collect
from irs_plugin.results.metrics import METRICS, Metric
from irs_plugin.results.table import COLUMNS
from irs_plugin.results.writing import read_scores, write

__all__ = [
    "COLUMNS",
    "METRICS",
    "NOTHING",
    "Collection",
    "Duplicate",
    "Failure",
    "Metric",
    "collect",
    "read_scores",
    "write",
]
