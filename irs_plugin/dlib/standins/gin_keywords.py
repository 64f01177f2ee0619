"""``gin.configurable`` and ``gin.external_configurable`` with their former keywords."""

import functools

REASON = (
    "gin 0.5 renamed the keywords blacklist and whitelist, which disentanglement_lib uses, to denylist and allowlist"
)

_TODAY = {"blacklist": "denylist", "whitelist": "allowlist"}


def supply(path: str):
    import gin

    current = getattr(gin, path.rpartition(".")[2])

    @functools.wraps(current)
    def with_former_keywords(*args, **kwargs):
        return current(*args, **{_TODAY.get(key, key): value for key, value in kwargs.items()})

    return with_former_keywords
