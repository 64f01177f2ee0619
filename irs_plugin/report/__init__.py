"""The report of a study: a page, its figures, and event files for TensorBoard."""
