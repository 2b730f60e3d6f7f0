"""Real KRaft brokers of any version as local processes; or a cluster that runs already.

Start with `local.LocalCluster.start` or `external.ExternalCluster`; both have `bootstrap()` and
`client()`, and what is asked of a client is in roles.py, topics.py and rawlog.py.
"""
