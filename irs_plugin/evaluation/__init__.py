"""Evaluation functions for dlib's pipeline. Importing this package makes them known to gin:

    import irs_plugin.evaluation
    evaluation.evaluation_fn = @interventional_robustness

Neither TensorFlow nor dlib is imported by it.
"""

# Each import registers what the module defines.
import irs_plugin.evaluation.chance_level
import irs_plugin.evaluation.conditional_densities
import irs_plugin.evaluation.convergence
import irs_plugin.evaluation.discretisation
import irs_plugin.evaluation.domain_shift_robustness
import irs_plugin.evaluation.feature_importance
import irs_plugin.evaluation.group_robustness
import irs_plugin.evaluation.importance_matrices
import irs_plugin.evaluation.interventional_effects
import irs_plugin.evaluation.interventional_robustness
import irs_plugin.evaluation.mutual_information
import irs_plugin.evaluation.repeated_scores
import irs_plugin.evaluation.robustness_tradeoff
import irs_plugin.evaluation.with_factor_names
import irs_plugin.evaluation.witnesses  # noqa: F401
