"""``pkg_resources``: the version comparison and the file look-ups that are called."""

from importlib.resources import files
from types import SimpleNamespace

from irs_plugin.dlib.standins.distutils import LooseVersion

REASON = "setuptools is giving up pkg_resources: importing it warns at every start and takes a while"


def resource_filename(package: str, path: str) -> str:
    """Path of a file or folder that belongs to the package."""
    return str(files(package) / path)


def resource_listdir(package: str, path: str) -> list[str]:
    """Names in a folder of the package."""
    return [entry.name for entry in (files(package) / path).iterdir()]


def resource_isdir(package: str, path: str) -> bool:
    """Tell whether the package has a folder there."""
    return (files(package) / path).is_dir()


def supply(path: str) -> SimpleNamespace:
    return SimpleNamespace(
        parse_version=LooseVersion,
        resource_filename=resource_filename,
        resource_listdir=resource_listdir,
        resource_isdir=resource_isdir,
    )
