"""The wire story of one bad record: read, traced, told, drawn; out of a finished run only.

recording ──▶ tracing ──▶ telling ──▶ steps ──▶ lines of report.txt, lanes of report.html

recording   frames and batches as stored     gathering   each frame once
subject     what a witness names             steps       order, faults among them, bounds
tracing     which frames a record went by    words       how a frame reads
telling     which of them make its story     lanes       the picture
"""
