"""Where free ports come from: the cluster's own, so that nobody else takes them meanwhile."""

from collections.abc import Callable

FreePorts = Callable[[int], list[int]]
