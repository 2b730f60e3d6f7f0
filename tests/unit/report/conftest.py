"""The unit tests of the reports draw the same made-up runs as the golden texts."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "golden"))
