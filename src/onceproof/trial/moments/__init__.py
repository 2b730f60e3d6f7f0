"""A step of the schedule is carried out (strike.py) at its moment (moment.py), and where it is
aimed (aiming.py), on a victim that stands still:

    mid_output.py   an instance is writing output
    late_end.py     the group does not know yet how the last transaction ended
    wire_hold.py    one frame is held at the proxy
    table_hold.py   the suspect's database holds it before its position
"""
