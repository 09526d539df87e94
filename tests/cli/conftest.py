"""Fixtures of the command line's tests."""

from tests.cli._run import cli

__all__ = ["cli"]
