"""dSprites without the download: sprites drawn from their factors, and an archive of them for disentanglement_lib."""

from irs_plugin.dsprites.rendering import render

__all__ = ["render"]
