"""List the gin files that come with the package, or print the path of one.

Stock dlib scripts find them by these names from any directory: --gin_config=metrics/irs_paper.gin.
"""

from __future__ import annotations

import argparse

from irs_plugin.config_files import config_names, config_root, describe_config, find_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="print this file's path, such as metrics/irs_paper.gin")


def run(args: argparse.Namespace) -> int:
    if args.name is not None:
        print(find_config(args.name))
        return 0
    names = config_names()
    width = max(len(name) for name in names)
    for name in names:
        print(f"{name:<{width}}  {describe_config(config_root() / name)}")
    print(f"\nin {config_root()}")
    return 0
