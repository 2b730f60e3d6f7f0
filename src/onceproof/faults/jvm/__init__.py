"""Into a JVM that runs already: an agent is loaded, and rules say what its methods do.

attach.py ──load──▶ JVM of a broker or a suspect ◀──rules by a local port── byteman.py
                         └── its log: a line each time a rule fires
"""
