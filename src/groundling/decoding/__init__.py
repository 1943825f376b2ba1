"""Picture files, decoded: in processes of their own, within limits, after a look at how their bytes are put together.

`structure` knows what no camera writes, `opening` opens what is left, `workers` are the processes.
"""
