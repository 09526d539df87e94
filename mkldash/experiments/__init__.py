"""From choices to a problem that is ready to solve, and what its result is worth."""
