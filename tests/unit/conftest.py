"""All of these together stay under ten seconds."""

from hypothesis import settings

EXAMPLES = 40  # of each property, each time others

settings.register_profile("quick", max_examples=EXAMPLES, deadline=None)  # machines may be busy
settings.load_profile("quick")
