"""Attacks and faults that groundling must stand: `make torture` does all of them in a quarter of an hour on two cores.

Each module is a kind of trouble and gives rows of results; `__main__` runs them within a time, prints a table, and
writes JSON and the block of figures in docs/reliability.md.
"""
