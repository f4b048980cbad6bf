"""What every operation that releases records can write: the records, and which of them is which."""

from shoal.operation import Product


def released_records(subject: str) -> Product:
    """The released records, checked after they were read back; ``subject`` is what is missed when they go nowhere."""
    return Product(
        "output",
        "Where to write.",
        lambda result, settings: result.frame,
        short="-o",
        metavar="DATA",
        check=lambda result, settings: result.verify,
        files=(
            ("release.csv", "Released records (CSV)"),
            ("release.parquet", "Released records (Parquet)"),
            ("release.xlsx", "Released records (Excel)"),
        ),
        subject=subject,
    )


def released_parts(subject: str) -> Product:
    """The released records as a folder of Parquet files, read back and checked where they were written."""
    return Product(
        "output",
        "Where to write.",
        lambda result, settings: result.stage,
        form="parts",
        short="-o",
        metavar="DATA",
        check=lambda result, settings: result.verify,
        subject=subject,
    )


def record_links(title: str = "") -> Product:
    """Which released record is which original one, for comparing them; without a title nobody downloads it from a page."""
    return Product(
        "record_links",
        "Write which released record is which, for 'shoal compare'; internal.",
        lambda result, settings: result.record_links.csv(),
        form="text",
        internal=True,
        # Beside the release of a run, for comparing it.
        files=(("record-links.csv", title),),
    )
