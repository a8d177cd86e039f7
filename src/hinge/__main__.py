"""``python -m hinge`` tells what hinge runs on."""

from hinge.versions import show_versions

show_versions()
