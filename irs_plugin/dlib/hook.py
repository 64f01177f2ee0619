"""The finder that a line in site-packages puts in place at every start of Python: it must cost next to nothing.

Until somebody imports disentanglement_lib, this module is all that has been loaded. Everything else is in ``loading``.
"""

import sys

# The packages whose modules see stand-ins. Those beside the library itself join once it has been imported, because
# nobody else is served by them: on a current TensorFlow they do not import without help.
_watched = {"disentanglement_lib"}


class Finder:
    """A meta path finder that hands the watched packages to ``irs_plugin.dlib.loading``."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in _watched:
            return None
        from irs_plugin.dlib import loading

        _watched.update(loading.PACKAGES)
        return loading.find_spec(name, path, target)


def install():
    """Put the finder in front of the others, once."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)


def is_installed():
    """Tell whether the finder is in place."""
    return Finder in sys.meta_path
