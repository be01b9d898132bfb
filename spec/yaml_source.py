# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the YAML files from which everything is generated."""
import yaml

# Use the C parser, which is six times as fast, if PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    with open(path, encoding="utf-8") as source:
        return yaml.load(source, Loader=LOADER)
