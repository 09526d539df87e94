"""The saddle-point problem that every solver solves, and its certificates."""
