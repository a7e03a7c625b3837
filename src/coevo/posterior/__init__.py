"""The posterior over structures: how probable each arc, path and answer is, given the rows.

A search returns one network. The posterior weighs all of them: the weight of a DAG is the
exponential of its score, times its prior. This room computes it exactly where that is feasible,
and samples from it elsewhere.
"""
