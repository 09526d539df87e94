"""Tables: shipped data sets with their cards, generators, splits, a user's own files.

Stands beside the chain of rooms: it may import only `mkldash.kernels`, and only
the command line, the apps and the experiments may import it.
"""
