"""Wrong on purpose: as consumer_own_offsets, but it restores first and fences then.

restore: 1000 ──────────────────────▶ fence ──▶ reads on from 1000
               ▲ the predecessor commits 1000 to 1999: they come out again
"""

import sys

from onceproof.suspects.consumers import own_offsets


def main() -> int:
    return own_offsets.main(fence_first=False)


if __name__ == "__main__":
    sys.exit(main())
