"""Text, HTML and JUnit, out of a finished run directory only: a stored run can be drawn again."""
