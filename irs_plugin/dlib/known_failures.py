"""Failures of disentanglement_lib's own tests that are the library's doing. The list may only shrink.

Keys are ``module::Class.test``; values say why the test fails. An entry whose test passes, or no longer exists, fails
the run (see ``irs_plugin.dlib.selftest``).
"""

KNOWN_FAILURES: dict[str, str] = {}
