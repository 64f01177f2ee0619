"""What stock disentanglement_lib needs on a current TensorFlow; no other part of the package knows its age.

``hook`` waits for the library's import, ``loading`` lets its modules see the stand-ins that ``registry`` lists, and
nothing outside those modules sees them.
"""
