# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the YAML from which everything is generated."""
import yaml

# The C parser takes a sixth of the time, if PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    with open(path, encoding="utf-8") as source:
        return yaml.load(source, Loader=LOADER)
