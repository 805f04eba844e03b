"""The `tile-tune` command."""

import os
import sys

from ._options import tool


def main():
    os.execv(tool(), ["tile-tune", *sys.argv[1:]])


if __name__ == "__main__":
    main()
