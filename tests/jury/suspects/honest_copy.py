"""Copies each record once, key and value unchanged. To be acquitted under every fault."""

import copying

if __name__ == "__main__":
    copying.run()
