"""``gfile.Open`` that says what to do about a missing dSprites archive."""

import os

from irs_plugin.dsprites.archive import ARCHIVE

REASON = "a missing dSprites archive is otherwise reported without what to do about it"


def supply(path: str):
    import tensorflow as tf

    current = tf.compat.v1.gfile.Open

    def open_file(name, mode="r"):
        if os.path.basename(name) == ARCHIVE and not tf.io.gfile.exists(name):
            raise FileNotFoundError(
                f"no dSprites archive at {os.path.abspath(name)}: point DISENTANGLEMENT_LIB_DATA to the folder that "
                "holds dsprites/, or let 'irs_plugin dsprites' render one there"
            )
        return current(name, mode)

    return open_file
