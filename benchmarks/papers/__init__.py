"""The tables and figures of the papers, measured again: one exhibit each (see ``cli.py``)."""
