"""Real KRaft brokers of any version as local processes; or a cluster that runs already.

Start with `local.LocalCluster.start` or `external.ExternalCluster`; both have `bootstrap()` and
`client()`, and what is asked of a client is in a file by what it is about: topics.py, groups.py,
roles.py, transactions.py, replicas.py, rawlog.py (the log itself), offset_commits.py, loading.py,
quotas.py, markers.py.
"""
