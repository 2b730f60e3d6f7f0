"""The wire story of one bad record: read, traced, told, drawn; out of a finished run only.

recording ──▶ tracing ──▶ telling ──▶ steps ──▶ lines (report.txt), lanes (report.html)
"""
