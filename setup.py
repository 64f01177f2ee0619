"""Metadata, and the two commands that put the hook for disentanglement_lib into site-packages."""

import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

ROOT = Path(__file__).parent
HOOK = ROOT / "irs_plugin" / "dlib" / "irs_plugin.pth"


class BuildWithHook(build_py):
    """Put the hook beside the package, at the top of the wheel."""

    def run(self):
        super().run()
        if not self.editable_mode:
            self.copy_file(str(HOOK), self._hook())

    def get_outputs(self, include_bytecode=1):
        return [*super().get_outputs(include_bytecode), self._hook()]

    def _hook(self):
        return str(Path(self.build_lib, HOOK.name))


class EditableWithHook(editable_wheel):
    """Put the hook into the wheel of an editable installation, which holds no package but only points to it."""

    def _select_strategy(self, name, tag, build_lib):
        return WithHook(super()._select_strategy(name, tag, build_lib))


class WithHook:
    """A strategy of setuptools for editable wheels, and the hook."""

    def __init__(self, strategy):
        self._strategy = strategy

    def __call__(self, wheel, files, mapping):
        self._strategy(wheel, files, mapping)
        wheel.writestr(HOOK.name, HOOK.read_text(encoding="utf-8"))

    def __enter__(self):
        self._strategy.__enter__()
        return self

    def __exit__(self, *exception):
        return self._strategy.__exit__(*exception)


def version():
    text = (ROOT / "irs_plugin" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE).group(1)


def readme():
    path = ROOT / "README.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


setup(
    name="irs_plugin",
    version=version(),
    description="Interventional robustness of learned representations, for arrays and for disentanglement_lib",
    long_description=readme(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.14",
    packages=[*find_packages(include=["irs_plugin", "irs_plugin.*"]), "irs_plugin.configs"],
    package_dir={"irs_plugin.configs": "configs"},
    package_data={
        "irs_plugin": ["py.typed", "sweep/*.json", "report/templates/*"],
        "irs_plugin.configs": ["**/*.gin"],
    },
    install_requires=[
        "numpy",
        "numba",
        "scikit-learn",
        "matplotlib",
        "pandas",
        "tqdm",
        "jinja2",
        "disentanglement_lib==1.5",
        # Brings the TensorFlow of its own version. From 2.16 on one path serves all; 2.21 is the newest one tested.
        "tf_keras>=2.16,<2.22",
        # The last one with hub.Module, which disentanglement_lib's models are.
        "tensorflow-hub==0.15.0",
        # 0.4 does not import on Python 3.10 and later.
        "gin-config==0.5.0",
        # From 2.28 on, imageio refuses the animations that the visualisers write.
        "imageio<2.28",
        # imageio 2.27 looks for its files with pkg_resources, which setuptools 82 no longer has.
        "setuptools<82",
        # 1.18 dropped the private function that disentanglement_lib's dendrogram calls.
        "scipy<1.18",
    ],
    extras_require={
        "sweep": ["distributed", "pyarrow"],
        "cluster": ["dask-jobqueue"],
        "parquet": ["pyarrow"],
        "tensorboard": ["tensorboard"],
        "test": [
            "pytest",
            "pytest-xdist",
            "hypothesis",
            "ruff",
            "wheel",
            "distributed",
            "pyarrow",
            "tensorboard",
            "playwright",
        ],
    },
    entry_points={"console_scripts": ["irs_plugin = irs_plugin.cli:main"]},
    cmdclass={"build_py": BuildWithHook, "editable_wheel": EditableWithHook},
)
