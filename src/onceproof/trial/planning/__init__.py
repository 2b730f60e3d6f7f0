"""From a scenario and a command line to a plan: what is run, checked before anything is started.

TOML ──scenario.py──▶ Scenario ─┐
  └─ :variant, :cure, :control  ├──plan.py──▶ Plan (suspect, schedule, settings, input)
     (variants.py)              │
--set, --suspect, … ────────────┘
(request.py, settings.py)
--program, --random-faults: other_faults.py     what does not go together: together.py
a Scenario back to TOML: scenario_text.py
"""
