"""The studies that come with the package."""

from irs_plugin.studies.definitions import STUDIES, Study

__all__ = ["STUDIES", "Study"]
