"""Every tested combination of Python and TensorFlow by one command: ``nox``.

Each session installs the package with plain pip and runs the test suite; arguments after ``--`` go to pytest, so that
``nox -- -m "not slow"`` runs its fast part. ``nox --list`` names the sessions, ``nox -s dlib_tests`` runs
disentanglement_lib's own tests.
"""

import nox

nox.options.default_venv_backend = "venv"

COMBINATIONS = [("3.10", "2.16"), ("3.11", "2.16"), ("3.11", "2.21"), ("3.12", "2.21"), ("3.13", "2.21")]


@nox.session
@nox.parametrize("python, tensorflow", COMBINATIONS)
def tests(session: nox.Session, tensorflow: str) -> None:
    """Install, let the doctor report, and test."""
    session.install(".[test]", f"tf_keras=={tensorflow}.*", f"tensorflow=={tensorflow}.*")
    session.run("irs_plugin", "doctor")
    session.run("pytest", *session.posargs)


@nox.session(python="3.13", default=False)
def dlib_tests(session: nox.Session) -> None:
    """Run disentanglement_lib's own tests, by default the fast selection."""
    session.install(".")
    session.run("irs_plugin", "dlib-tests", *(session.posargs or ("--select", "fast")))
