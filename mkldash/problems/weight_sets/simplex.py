"""The simplex: l1 multiple kernel learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mkldash.problems.weight_sets.elastic_net import ElasticNet

__all__ = ["Simplex"]


@dataclass(frozen=True)
class Simplex(ElasticNet):
    """theta >= 0 with sum(theta) <= 1: the elastic-net set at eta = 1."""

    eta: float = field(default=1.0, init=False)
    name: ClassVar[str] = "simplex"
