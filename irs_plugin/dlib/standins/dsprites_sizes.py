"""``DSprites.full_factor_sizes``, from which ``factors_num_values`` comes, as the archive has them."""

REASON = (
    "disentanglement_lib samples within the factor sizes of the archive found, but states those of the original: "
    "its pictures and downstream scores would ask a small archive for images that it lacks"
)


def supply(path: str):
    # The class assigns its own list to every data set; the archive, which it has read by then, knows better.
    return property(lambda data: data.factor_sizes.tolist(), lambda data, sizes: None)
