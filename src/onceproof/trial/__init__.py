"""Carries a scenario out: start, feed, fault, heal, drain, judge. Everything ends up in a run
directory.

    plan ──▶ stage (brokers, Spark, topics, instances) ──▶ iterations: feed ∥ strike ──▶ catch up
    ──▶ judge
                                                                                             │
    verdict.json, report ◀── decide ◀── findings ◀── checks ◀── topics as Parquet ◀──────────┘

planning/ what is asked for    moments/ when a fault strikes    judging/ what is made of it
many/     trials in numbers
"""
