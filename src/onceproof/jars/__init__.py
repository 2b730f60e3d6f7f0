"""JVM jars by a committed lock: fetch, verify, cache; the classpath of each program we start.

```
 lock.json ──▶ lock.py ──▶ cache.py: which files are missing or not what the lock says?
                               │ those
                               ▼
 repository.py (address) ──▶ fetch.py: 16 at a time ──▶ *.part ──size, sha256──▶ rename ──▶ cache
```

Invariant: a path that `classpath` returns holds exactly the bytes the lock names.
"""

from onceproof.jars.cache import classpath
from onceproof.jars.fetch import Progress
from onceproof.jars.lock import kafka_versions, known_sets, streams_versions

__all__ = ["Progress", "classpath", "kafka_versions", "known_sets", "streams_versions"]
