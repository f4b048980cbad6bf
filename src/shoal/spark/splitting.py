"""Records of a cluster, sampled and counted where they are.

The sample is drawn by a hash of the values, so that it is the same however the records lie.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.microaggregation.leaves.leaf_search import canonical_order
from shoal.microdata.microaggregation.leaves.split_tree import LeafCount, Sample
from shoal.microdata.microaggregation.leaves.splitting import WHOLE, Choose, Router
from shoal.spark.frames import every

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, eq=False)
class Records:
    """All records with their columns of numbers, the ``root`` they begin at, and a ``point`` hash of the numbers.

    ``units`` is an aggregate that says how many units some records surely have.
    """

    data: "DataFrame"
    columns: tuple[str, ...]
    units: "Column | None" = None

    def routed(self, choose: Choose, name: str = "node") -> "DataFrame":
        """The records with a whole number that ``choose`` computes from values and roots, for all at once."""
        return self._numbered(lambda values, roots, hashes: choose(values, roots), name)

    def among(self, choose: Choose) -> "Records":
        """The same records beginning at other roots."""
        return replace(self, data=self.routed(choose, "root"))

    def _numbered(self, choose: Callable[..., np.ndarray], name: str = "node") -> "DataFrame":
        return self.data.withColumn(name, self._expression(choose))

    def _expression(self, choose: Callable[..., np.ndarray]) -> "Column":
        import pandas as pd
        from pyspark.sql.functions import pandas_udf
        from pyspark.sql.types import IntegerType

        def vectorised(*series: Any) -> Any:
            values = np.column_stack([np.asarray(item, dtype=np.float64) for item in series[:-2]])
            roots, hashes = (np.asarray(item, dtype=np.int64) for item in series[-2:])
            return pd.Series(choose(values, roots, hashes).astype(np.int32))

        vectorised.__annotations__ = {"series": pd.Series, "return": pd.Series}
        return pandas_udf(vectorised, IntegerType())(*self.columns, "root", "point")

    def _points(self, router: Router) -> "list[Column]":
        """What ``router.turned`` makes of the values, operation by operation, so that every digit is the same."""
        from pyspark.sql import functions as f

        scaling, columns = router.scaling, self.columns
        units = np.broadcast_to(scaling.units, (len(columns),)).tolist()
        parts = zip(columns, scaling.centres.tolist(), units, scaling.factors.tolist(), strict=True)
        points = [(f.col(name) - centre) / unit * factor for name, centre, unit, factor in parts]
        if router.axes is None:
            return points
        axes = router.axes.tolist()
        return [
            reduce(add, (point * axis[place] for point, axis in zip(points, axes, strict=True)))
            for place in range(len(columns))
        ]

    def draw(
        self, router: Router, wanted: Mapping[int, int], known: Mapping[int, LeafCount]
    ) -> dict[int, Sample]:
        """Distinct points of some leaves, those with the smallest hashes, with how many records each stands for."""
        from pyspark.sql import functions as f

        share = np.zeros(router.tree.child.size)
        for node, number in wanted.items():
            share[node] = min(1.0, number / known[node].distinct)
        # What is below the limit is drawn; a share of 1 draws everything.
        limit = np.where(share >= 1, np.inf, share * 2.0**64 - 2.0**63)

        def choose(values: np.ndarray, roots: np.ndarray, hashes: np.ndarray) -> np.ndarray:
            nodes = router.nodes(values, roots)
            taken = (nodes >= 0) & (share[nodes] > 0) & (hashes < limit[nodes])
            return np.where(taken, nodes, WHOLE)

        drawn = self._numbered(choose).where(f.col("node") >= 0)
        table = drawn.groupBy("node", *self.columns).agg(f.count("*").alias("weight")).toArrow()
        nodes, weights = (table.column(name).to_numpy() for name in ("node", "weight"))
        points = np.column_stack([table.column(name).to_numpy() for name in self.columns])
        order = canonical_order(points, nodes)
        nodes, weights, points = nodes[order], weights[order].astype(np.float64), points[order]
        by_node = np.argsort(nodes, kind="stable")
        ends = np.flatnonzero(np.diff(nodes[by_node], append=-2)) + 1
        return {
            int(nodes[rows[0]]): Sample(points[rows], weights[rows])
            for rows in np.split(by_node, ends[:-1])
            if rows.size
        }

    def count(self, router: Router, nodes: np.ndarray) -> dict[int, LeafCount]:
        """What the leaves among some nodes hold, counted on all records."""
        from pyspark.sql import functions as f

        wanted = np.zeros(router.tree.child.size, dtype=bool)
        wanted[nodes] = True

        def choose(values: np.ndarray, roots: np.ndarray) -> np.ndarray:
            found = router.nodes(values, roots)
            return np.where((found >= 0) & wanted[found], found, WHOLE)

        # Whether they are one is asked of the points that are split, not of the values.
        one = every(f.min(point) == f.max(point) for point in self._points(router))
        rows = (
            self.routed(choose)
            .where(f.col("node") >= 0)
            .groupBy("node")
            .agg(
                f.count("*").alias("records"),
                f.approx_count_distinct("point", 0.05).alias("distinct"),
                one.alias("constant"),
                (f.lit(None) if self.units is None else self.units).cast("int").alias("units"),
            )
            .collect()
        )
        return {
            row["node"]: LeafCount(
                row["records"], max(1, row["distinct"]), bool(row["constant"]), row["units"]
            )
            for row in rows
        }
