"""Runs solvers in worker threads and records them; knows nothing of drawing."""

from mkldash.streaming.jobs import Building, Cancelled, Factory, Job, Score
from mkldash.streaming.runner import Runner
from mkldash.streaming.session import Session, State
from mkldash.streaming.trace import Trace

__all__ = [
    "Building",
    "Cancelled",
    "Factory",
    "Job",
    "Runner",
    "Score",
    "Session",
    "State",
    "Trace",
]
