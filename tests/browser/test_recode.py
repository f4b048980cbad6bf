"""Recode: from proposed hierarchies over an edited one to a release, its neighbours and the front."""

import json
from pathlib import Path

import polars as pl
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from tests.browser.visitor import Visitor

import shoal

pytestmark = pytest.mark.xdist_group("browser")
KEYS = ["age", "town", "sex"]


@pytest.fixture
def patients(visitor: Visitor) -> pl.DataFrame:
    """Patients, most of a few ages, in the workspace already."""
    frame = pl.DataFrame(
        {
            "patient_id": range(3000, 3120),
            "age": [20 + place % 50 if place % 11 == 0 else (31, 38, 44)[place % 3] for place in range(120)],
            "town": [("bonn", "essen", "ulm", "graz")[(place // 5) % 4] for place in range(120)],
            "sex": ["f" if place % 3 else "m" for place in range(120)],
        }
    )
    visitor.have("patients", frame.write_csv().encode())
    return frame


def _levels(visitor: Visitor, key: str) -> str:
    return visitor.one(f"[data-key={key}] [data-test=levels]").text


def test_hierarchies_are_proposed_edited_and_used(
    visitor: Visitor, patients: pl.DataFrame, downloads: Path
) -> None:
    visitor.open("/recode?data=patients")
    visitor.see("What the values of each key become")
    visitor.until(lambda: "labels · ages: intervals of 5, 10 and 20" in _levels(visitor, "age"), "the levels")
    visitor.until(lambda: _levels(visitor, "town").startswith("4 → 1 labels"), "the levels of the towns")
    assert "essen" not in visitor.driver.page_source, "values are shown on request"
    visitor.shot("recode-form")
    # Another rule, first a wrong one.
    visitor.unfold("Another hierarchy for age")
    visitor.fill("Rule for age", "intervalls(5)")
    visitor.see("did you mean 'intervals'")
    visitor.fill("Rule for age", "intervals(10,20)")
    visitor.until(lambda: "as given: intervals of 10 and 20" in _levels(visitor, "age"), "the new levels")
    # Towns get a level between themselves and the root.
    visitor.press("Labels of town")
    visitor.see("Labels of town", "essen", "4 → 1 labels")
    visitor.press("Add a level after value")
    visitor.see("4 → 4 → 1 labels")
    for row, label in ((1, "Rhine"), (2, "Rhine")):
        visitor.fill(f"Label of row {row} at level 1", label)
    visitor.see("4 → 3 → 1 labels")
    visitor.fill("Label of row 3 at level 1", " ")
    visitor.see("row 3 needs a label at level 1")
    visitor.fill("Label of row 3 at level 1", "Danube")
    visitor.until(lambda: not visitor.all("[data-test=wrong]"), "nothing wrong")
    # One town alone goes under another label; as text, whole lines can be written.
    visitor.click(visitor.labelled("div[@role='switch']", "Move one value or label at a time"))
    visitor.fill("Label of row 4 at level 1", "Danube")
    visitor.see("4 → 2 → 1 labels")
    visitor.fill("Label of row 4 at level 1", "Upper Danube")
    visitor.see("4 → 3 → 1 labels")
    visitor.click(visitor.labelled("div[@role='switch']", "As text"))
    box = visitor.one("textarea")
    written = box.get_attribute("value")
    assert written == "bonn;Rhine;*\nessen;Rhine;*\ngraz;Danube;*\nulm;Upper Danube;*\n"
    box.send_keys("bonn;Seine;*")
    visitor.see("row 5 is about the same value as row 1")
    visitor.click(visitor.labelled("div[@role='switch']", "As text"))
    visitor.until(lambda: not visitor.all("[data-test=wrong]"), "nothing wrong")
    visitor.shot("recode-editor")
    visitor.press("Use these labels")
    visitor.until(lambda: _levels(visitor, "town").startswith("4 → 3 → 1 labels · as given"), "their levels")
    visitor.until(
        lambda: "patients-town-labels" in visitor.field("Hierarchy of town").text, "the labels to be chosen"
    )
    visitor.choose("Method", "lattice")
    visitor.press("Recode")
    visitor.state("done")
    visitor.see("K of the release over age, town, sex", "largest change of a share")
    visitor.whole("recode")
    visitor.click(lambda: visitor.one("[data-file='release.csv']"))
    visitor.until((downloads / "release.csv").exists, what="the download")
    released = pl.read_csv(downloads / "release.csv")
    assert "patient_id" not in released.columns
    assert shoal.anonymity(released, KEYS).k >= 5
    visitor.click(lambda: visitor.one("[data-file='mapping.json']"))
    visitor.until((downloads / "mapping.json").exists, what="the mapping")
    assert "Danube" in json.dumps(json.loads((downloads / "mapping.json").read_text()), ensure_ascii=False)
    assert not visitor.complaints()


@pytest.mark.usefixtures("patients")
def test_the_front_is_a_map_to_click_through(visitor: Visitor) -> None:
    visitor.complaints()  # what pages before this one said
    run = visitor.run("recode", data="patients", quasi=KEYS, k=4, method="lattice", explain=True)
    visitor.open(f"/recode?run={run}")
    visitor.state("done")
    visitor.see("One level finer or coarser", "Loss against records left out")
    visitor.whole("recode-front")
    front = visitor.all("table[aria-label='Loss against records left out'] tbody tr")
    assert len(front) > 1
    *levels, loss, left_out, _ = [cell.text for cell in front[-1].find_elements(By.TAG_NAME, "td")]
    visitor.press(f"Run line {len(front)}: Loss against records left out")
    visitor.until(lambda: run not in visitor.driver.current_url, "another run")
    visitor.state("done")
    visitor.see("records left out, of 120")
    facts = {
        item.text.partition("\n")[2]: item.text.partition("\n")[0] for item in visitor.all(".shoal-fact")
    }
    assert (facts["loss"], facts["records left out, of 120"]) == (loss, left_out)
    # The form shows what ran.
    written = visitor.one("[data-setting=levels] input, input[data-setting=levels]").get_attribute("value")
    assert written == ",".join(f"{key}={level}" for key, level in zip(KEYS, levels, strict=True))
    assert "lattice" in visitor.field("Method").text
    # And back by a point of the chart.
    again = visitor.driver.current_url
    visitor.one("[aria-label^='loss against what is left out'] canvas")
    chart = visitor.one("[aria-label^='loss against what is left out']")
    x, y = visitor.driver.execute_script(
        """
        const chart = getElement(Number(arguments[0].id.slice(1))).chart, first = chart.getOption().series[0].data[0];
        arguments[0].scrollIntoView({block: "center"});
        return chart.convertToPixel({seriesIndex: 0}, first);
        """,
        chart,
    )
    size = chart.size
    mouse = ActionChains(visitor.driver)
    mouse.move_to_element_with_offset(chart, round(x - size["width"] / 2), round(y - size["height"] / 2))
    mouse.click().perform()
    visitor.until(lambda: visitor.driver.current_url != again, "the run of the point")
    visitor.state("done")
    visitor.see("records left out, of 120")
    assert not visitor.complaints()
