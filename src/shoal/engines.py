"""Where an operation runs: in the memory of this machine, on its disk, or on a cluster.

An operation that can run elsewhere inherits ``EngineSettings`` and names an ``Engine`` for each other place; nothing else
of its declaration changes. What an engine cannot do it refuses before any work.
"""

from typing import Annotated, Literal, TypeAlias

from shoal.settings import Settings, Spelling, setting

_SECTION = "Engine"


def split_conf(texts: list[str]) -> dict[str, str]:
    """Settings of Spark, one for each text.

    >>> split_conf(["spark.executor.memory=8g", "spark.executor.cores=4"])
    {'spark.executor.memory': '8g', 'spark.executor.cores': '4'}
    """
    pairs = [text.partition("=") for text in texts]
    if not all(name and sign for name, sign, _ in pairs):
        raise ValueError("must be NAME=VALUE, such as spark.executor.memory=8g")
    return {name.strip(): value.strip() for name, _, value in pairs}


SparkConf: TypeAlias = Annotated[
    dict[str, str],
    Spelling(
        "options",
        "NAME=VALUE",
        split_conf,
        lambda conf: " ".join(f"{name}={value}" for name, value in conf.items()),
        repeated=True,
    ),
]


class EngineSettings(Settings):
    """Where it runs; only commands choose, the workbench serves what is in its memory."""

    engine: Literal["local", "stream", "spark"] = setting(
        "local",
        "Run in memory, on the disk of this machine, or on a Spark cluster.",
        section=_SECTION,
        label="Engine",
        only="command",
    )
    master: str | None = setting(
        None,
        "The master of the cluster, such as spark://host:7077 or yarn.",
        section=_SECTION,
        metavar="URL",
        otherwise="this machine",
        only="command",
    )
    spark_conf: SparkConf = setting(
        {},
        "A setting of Spark; may be repeated.",
        section=_SECTION,
        label="Settings of Spark",
        only="command",
    )
    memory: float | None = setting(
        None,
        "With stream: the most memory to use, in GB.",
        section=_SECTION,
        label="Memory, GB",
        metavar="GB",
        otherwise="half of what is free",
        only="command",
        gt=0,
        le=1e6,
    )
