"""Names of the factors of dlib's data sets."""

import re
from types import SimpleNamespace

import pytest

from irs_plugin.evaluation.factor_names import factor_group, factor_index, factor_names


def dlib_object(module, name, **attributes):
    """An instance of one of dlib's classes, its data not loaded."""
    import importlib

    cls = getattr(importlib.import_module(f"disentanglement_lib.data.ground_truth.{module}"), name)
    found = cls.__new__(cls)
    vars(found).update(attributes)
    return found


@pytest.mark.parametrize(
    ("module", "name", "count"),
    [("norb", "SmallNORB", 4), ("cars3d", "Cars3D", 3), ("shapes3d", "Shapes3D", 6), ("mpi3d", "MPI3D", 7)],
)
def test_other_data_sets_by_what_dlib_says_in_comments(module, name, count):
    found = dlib_object(module, name)
    names = factor_names(found)
    documented = re.findall(r"^\s*(\d) - ([A-Za-z ]+?)(?: condition)? ?\(", type(found).__doc__, re.MULTILINE)
    assert len(names) == len(documented) == count
    for ours, (_, theirs) in zip(names, documented, strict=True):
        assert ours.split()[0].lower().rstrip("s") == theirs.split()[0].lower().rstrip("s")


@pytest.mark.parametrize("name", ["DSprites", "ColorDSprites", "NoisyDSprites", "ScreamDSprites"])
def test_dsprites_and_its_variants(name):
    found = dlib_object("dsprites", name, latent_factor_indices=[1, 2, 3, 4, 5])
    assert factor_names(found) == ["shape", "scale", "orientation", "posX", "posY"]


def test_dsprites_restricted_to_some_factors():
    found = dlib_object("dsprites", "DSprites", latent_factor_indices=[2, 3, 4, 5])
    assert factor_names(found) == ["scale", "orientation", "posX", "posY"]


def test_unknown_data_sets_have_none():
    assert factor_names(SimpleNamespace(num_factors=2)) is None


def test_own_names_must_fit():
    with pytest.raises(ValueError, match="give one name per factor"):
        factor_names(SimpleNamespace(num_factors=3, factor_names=["a", "b"]))


def test_groups_by_name_and_index(data):
    assert factor_group(["posX", 0], data, "fixed_factors") == (0, 2)
    assert factor_group("scale", data, "target") == (1,)
    with pytest.raises(ValueError, match="no factor 'colour'; its factors are shape, scale, posX"):
        factor_group(["colour"], data, "fixed_factors")
    with pytest.raises(ValueError, match="fixed_factors is not bound"):
        factor_group(None, data, "fixed_factors")
    with pytest.raises(ValueError, match="no names; use indices"):
        factor_index("shape", None)
