"""Special uniques of a sample: by how few keys records are singled out, through which keys, and which records first."""

from typing import Any

from shoal.numbers import counted
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.column_bars import column_bars
from shoal.web.pages.risk.listed import listed_records
from shoal.web.workbench import Workbench


def present_special_uniques(workbench: Workbench, job: Job) -> None:
    """Figures, what each key adds to the scores, and the most special records by number."""
    found: dict[str, Any] = job.summary["special_uniques"]
    sizes, fewest = found["minimal_uniques"], found["records_by_fewest_keys"]
    parts.subheading("Special uniques")
    missed = found.get("sizes_not_looked_at", [])
    parts.facts(
        [
            (f"records singled out by at most {counted(found['max_size'], 'key')}", found["records"]),
            ("minimal uniques", sum(sizes.values())),
            ("largest score", found["largest_score"]),
            ("largest DIS-SUDA", found["largest_dis"]),
            *([("keys of sets not looked at: no time", ", ".join(map(str, missed)))] if missed else []),
        ]
    )
    if found["records"]:
        parts.table(
            ["keys in the set", "minimal uniques", "records that need no more"],
            [(int(size), number, fewest[size]) for size, number in sizes.items()],
        )
        column_bars(
            [one["column"] for one in found["contributions"]],
            [one["percent"] for one in found["contributions"]],
            what="part of the scores, %",
            most=100,
            label="which part of all scores comes from sets with each key",
        )
    if job.summary["most_special"]:
        listed_records(
            workbench,
            job,
            job.request["data"],
            job.summary["quasi"],
            heading="The most special records",
            header=["record", "fewest keys", "minimal uniques", "score", "DIS-SUDA"],
            rows=[
                (one["record"], one["fewest_keys"], one["minimal_uniques"], one["score"], one["dis_score"])
                for one in job.summary["most_special"]
            ],
            caption="Records are named by their number in the data.",
        )
    parts.quiet(job.summary["special_worth"])
