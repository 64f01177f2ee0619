"""``gfile.Open`` that says what to do about a missing dSprites archive."""

import os

REASON = "a missing dSprites archive is otherwise reported without what to do about it"

ARCHIVE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


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
