"""The metrics that the paper compares itself with (appendix D): feature importance and mutual information."""
