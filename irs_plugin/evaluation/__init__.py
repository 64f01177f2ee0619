"""Evaluation functions for dlib's pipeline. Importing this package makes them known to gin:

    import irs_plugin.evaluation
    evaluation.evaluation_fn = @interventional_robustness

Neither TensorFlow nor dlib is imported by it.
"""

import irs_plugin.evaluation.interventional_robustness  # noqa: F401
