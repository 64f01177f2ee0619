"""`python -m irs_plugin` is the `irs_plugin` command."""

import sys

from irs_plugin.cli import main

sys.exit(main())
