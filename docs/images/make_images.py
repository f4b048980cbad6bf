"""Draws the pictures of the manual: ``python docs/images/make_images.py`` writes the SVG files beside it."""

from pathlib import Path

HERE = Path(__file__).parent
INK, SOFT, ACCENT, WARM = "#1c2733", "#5c6b7a", "#1f6f8b", "#d1793b"


def svg(name: str, width: int, height: int, parts: list[str]) -> None:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13">'
    )
    body = f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>' + "".join(parts)
    (HERE / f"{name}.svg").write_text(f"{head}{body}</svg>\n", encoding="utf-8")


def text(x: float, y: float, words: str, *, colour: str = INK, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def person(x: float, y: float, colour: str) -> str:
    return (
        f'<circle cx="{x}" cy="{y - 13}" r="6" fill="{colour}"/>'
        f'<path d="M{x - 10},{y + 12} q0,-18 10,-18 q10,0 10,18 z" fill="{colour}"/>'
    )


def crowds() -> None:
    """Four crowds of 4, 4, 5 and 2: the vector (0, 1, 0, 2, 1), K = 2."""
    parts = []
    for row, (size, words) in enumerate(
        [
            (2, "88888, female, 25–30"),
            (4, "88888, male, 20–25"),
            (4, "11111, male, 25–30"),
            (5, "11111, female, 25–30"),
        ]
    ):
        y = 45 + 52 * row
        parts.append(text(20, y + 3, words, colour=SOFT))
        parts += [person(210 + 30 * place, y, WARM if size == 2 else ACCENT) for place in range(size)]
        parts.append(text(390, y + 3, f"a crowd of {size}" + ("  → K = 2" if size == 2 else "")))
    parts.append(
        text(
            20,
            250,
            "anonymity vector: (0, 1, 0, 2, 1) — no crowd of 1, one of 2, none of 3, two of 4, one of 5",
        )
    )
    svg("crowds", 620, 270, parts)


def microaggregation() -> None:
    """Nine points in three groups, each replaced by the mean."""
    groups = [
        [(60, 60), (85, 95), (110, 55)],
        [(190, 150), (225, 175), (180, 195)],
        [(90, 200), (60, 175), (55, 215)],
    ]
    colours = [ACCENT, WARM, "#5a8f3c"]
    parts = [
        text(130, 250, "nine records", anchor="middle"),
        text(440, 250, "released: three of each", anchor="middle"),
    ]
    for members, colour in zip(groups, colours, strict=True):
        cx = sum(x for x, _ in members) / 3
        cy = sum(y for _, y in members) / 3
        for x, y in members:
            parts.append(
                f'<line x1="{x}" y1="{y}" x2="{cx:.1f}" y2="{cy:.1f}" stroke="{colour}" stroke-opacity="0.5"/>'
            )
            parts.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>')
        parts.append(f'<circle cx="{cx + 310:.1f}" cy="{cy:.1f}" r="11" fill="{colour}"/>')
        parts.append(text(cx + 328, cy + 4, "× 3", colour=SOFT))
    parts.append(f'<path d="M260,130 h30 m-8,-7 l8,7 l-8,7" stroke="{INK}" fill="none" stroke-width="2"/>')
    svg("microaggregation", 560, 270, parts)


if __name__ == "__main__":
    crowds()
    microaggregation()
