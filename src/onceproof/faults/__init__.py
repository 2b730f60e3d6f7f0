"""Faults: an action on a target, at a moment. Each says what shows that it applied.

schedule (data) ──▶ moment reached? ──▶ target resolved ──▶ inject ──▶ evidence ──▶ heal
"""
