"""What the values of a column look like: numbers given out, amounts, codes, dates, names. Nothing here repeats a value."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import narwhals as nw
import numpy as np

from shoal.microdata.columns.integers import whole_numbers
from shoal.sources.dates import hold_dates
from shoal.sources.not_numbers import Faults, faults_in_numbers, first_not_number

# Texts that are looked at one by one; the shape of a column shows in these.
_LOOKED_AT = 200
# So many texts are read for names in some of them, and this share of names is a part.
_READ = 5_000
_PART = 0.02
# Shapes that so many of the values have are those of the column.
_MOST = 0.8
# From this share of different values on nearly everybody has one of their own.
NEARLY_ALL = 0.9
# Below this many records a column without repeats proves nothing.
_TELLING = 20
_LARGEST_AGE = 120

_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$", re.IGNORECASE)
_PHONE = re.compile(r"^(\+|00)?([ ()./-]*\d){8,15}$")
_DIGITS = re.compile(r"^\d{4,6}$")
_DIGIT = re.compile(r"\d")
_COMMA = re.compile(r"^-?\d*(,\d+)?$")
_LETTERED_POSTCODE = re.compile(
    r"^(\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{2}-\d{3})$"
)
_FIRM = re.compile(
    r"\b(s\.? ?a\.?|s\.? ?l\.?(u\.?)?|s\.? ?coop\.?|gmbh|ag|kg|ohg|e\.?v\.?|ltd\.?|limited|plc|llc|llp|inc\.?|corp\.?|"
    r"co\.?|company|corporation|sarl|sas|sasu|eurl|snc|s\.?p\.?a\.?|s\.?r\.?l\.?|lda\.?|b\.?v\.?|n\.?v\.?|a/?s|asa|ab|oyj?|"
    r"aps|sp\.? z o\.?o\.?|s\.?c\.?)$",
    re.IGNORECASE,
)
_TWO_NAMES = re.compile(r"^[^\W\d_][\w'’.-]*(,? [^\W\d_][\w'’.-]*){1,4}$")
# Frequent first names of some countries, without those that places have, too: at the beginning, or after a comma.
_FIRST_NAMES = """
ada adam agnes ahmed alan alba albert alejandro alex alexander ali alice alicia amanda amir amy ana andrea andreas andrew andrzej
angela anita anja ann anna anne annika antoine anton antonia antonio arthur astrid barbara beatriz ben benjamin bernd berta bjorn
birgit brigitte camille carla carlos carmen caroline catherine cecilia chiara chloe christian christina christine christoph
claire clara claudia cristina daniel daniela david deborah denise dennis diana diego dieter dorothea edward eduardo elena elin
elisabeth ella emil emilia emily emma enrique erica erik erika esther eva fatima federico felix fernando finn francesca francesco
francisco franz franziska frederik frida friedrich gabriel gabriela gerhard giovanni giulia giuseppe greta guillaume gunther hanna
hannah hans hassan heidi heike heinrich helen helena helga helmut henrik hugo ibrahim ida ines inga ingrid irene isabel isabella
jack jacob jakob james jan jana jane javier jean jennifer jens jessica joan johan johann johanna johannes john jonas jordi jorge
jose josef josefa joseph juan julia julian julie jurgen karen karin karl karla katharina katrin kevin klara klaus kristina
lars laura lea lena leon leonie linda lisa louise lucas lucia lucie luigi luis luisa lukas maja manuel manuela marc marco margaret
maria marie mario marta martha martin martina matteo matthias max maximilian mercedes mia michael michel michelle miguel mohamed
mohammed monika montserrat muhammad natalia nicolas nicole nina nora oliver olga olivia oscar oskar pablo paola patricia patrick
paul paula pedro peter petra philipp piotr rachel rafael ralf raquel rebecca ricardo richard rita robert roberto rosa ruth samuel
sandra sara sarah sebastian sergio silvia simon simone sofia sofie sonja sophia sophie stefan stefanie stephanie susan susanne
sven sylvie tanja teresa thomas tim tobias tomas ulrich ulrike ursula ute valentina vera veronika viktor walter wilhelm william
wolfgang xavier yasmin yusuf yvonne zoe
"""
_FIRST_NAME = re.compile(
    rf"(?:^(?:(?:dr|prof|mr|mrs|ms|herr|frau)\.? )*|, )(?:{'|'.join(_FIRST_NAMES.split())})\b", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Shape:
    """One column as it looks; each question is answered when it is asked."""

    column: nw.Series

    @cached_property
    def present(self) -> nw.Series:
        """The values that are there; NaN is missing."""
        # Under a name that no engine takes for a pattern.
        present = self.column.alias("value").drop_nulls()
        return present.filter(~present.is_nan()) if present.dtype.is_float() else present

    @cached_property
    def count(self) -> int:
        """How many values are there."""
        return len(self.present)

    @cached_property
    def distinct(self) -> int:
        """How many different values there are."""
        if self.count == 0:
            return 0
        if self.is_number:
            return 1 + int(np.count_nonzero(self._sorted[1:] != self._sorted[:-1]))
        return int(self.present.n_unique())

    @property
    def is_moment(self) -> bool:
        """Whether it holds dates, with or without the time of day."""
        kind = self.column.dtype
        return kind == nw.Date or kind == nw.Datetime or isinstance(kind, nw.Datetime)

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return isinstance(self.column.dtype, nw.String | nw.Categorical | nw.Enum)

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return bool(self.column.dtype.is_numeric())

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers, of whatever type."""
        if not self.is_number or not self.count:
            return False
        return bool(self.column.dtype.is_integer()) or bool((self._sorted == np.floor(self._sorted)).all())

    @cached_property
    def _sorted(self) -> np.ndarray:
        # Whole numbers stay what they are: long ones would fall together as floats.
        if self.column.dtype.is_integer():
            return np.sort(whole_numbers(self.present))
        return np.sort(np.asarray(self.present.cast(nw.Float64).to_numpy()))

    @property
    def _span(self) -> float:
        return float(self._sorted[-1]) - float(self._sorted[0]) + 1.0

    @cached_property
    def is_unique(self) -> bool:
        """Whether no two records share a value, and there are enough of them to say so."""
        return self.count >= _TELLING and self.distinct == self.count

    @property
    def is_nearly_unique(self) -> bool:
        """Whether nearly everybody has a value of their own."""
        return self.count >= _TELLING and self.distinct >= NEARLY_ALL * self.count

    @cached_property
    def is_running(self) -> bool:
        """Whether whole numbers count on, each once: few are left out between the first and the last."""
        return self.is_whole and self.distinct == self.count > 1 and self._span < 2 * self.distinct

    @cached_property
    def counts_on(self) -> bool:
        """Whether nearly all whole numbers are one more than the number before: a few gaps and repeats are mistakes."""
        if not self.is_whole or self.count < _TELLING:
            return False
        steps = np.asarray(self._sorted[1:] - self._sorted[:-1])
        return bool(np.count_nonzero(steps == 1) >= NEARLY_ALL * steps.size)

    @cached_property
    def is_issued(self) -> bool:
        """Whether whole numbers look given out: all different, evenly spread, and close together or long.

        Amounts that happen to be all different are not: they crowd at one end.
        """
        if not (self.is_whole and self.is_unique):
            return False
        reached = (self._sorted.astype(float) - float(self._sorted[0])) / max(self._span - 1.0, 1.0)
        if np.abs(reached - np.linspace(0, 1, self.count)).max() > 0.1 + 1.0 / np.sqrt(self.count):
            return False
        return bool(self._span < 20 * self.count or self._digits >= 7)

    @cached_property
    def _digits(self) -> int:
        """The number of digits if all whole numbers have the same, else 0."""
        low, high = (len(str(int(abs(value)))) for value in (self._sorted[0], self._sorted[-1]))
        return low if low == high and self._sorted[0] >= 0 else 0

    @cached_property
    def is_year(self) -> bool:
        """Whether whole numbers lie where years of living people and firms do."""
        low, high = self._sorted[0], self._sorted[-1]
        return bool(self.is_whole and low >= 1850 and high <= 2100 and high - low <= 150)

    @cached_property
    def is_few(self) -> bool:
        """Whether so few different values come so often that they are classes."""
        often = 10 if self.distinct <= 10 else 40
        return 1 < self.distinct <= 25 and self.count >= often * self.distinct

    @cached_property
    def is_class_number(self) -> bool:
        """Whether a few whole numbers lie side by side, as numbers of classes do and sums of money do not."""
        return self.is_whole and self.is_few and self._span <= 2 * self.distinct

    @cached_property
    def is_code_of_one_length(self) -> bool:
        """Whether whole numbers of five digits come again and again and are not rounded, as postcodes are."""
        if not (self.is_whole and self.count >= 50 and self._digits == 5 and 4 * self.distinct <= self.count):
            return False
        return float((self._sorted % 10 == 0).mean()) < 0.5

    @cached_property
    def joins_records(self) -> bool:
        """Whether whole numbers count on and each stands on a few records in a row, as numbers of households do."""
        if (
            not self.is_whole
            or self.count < 30
            or not 0.125 * self.count <= self.distinct < 0.95 * self.count
        ):
            return False
        # Ages, years of school and points of a test look the same in a file that is sorted by them.
        if self._span >= 5 * self.distinct or self._sorted[-1] <= _LARGEST_AGE:
            return False
        values = np.asarray(self.present.to_numpy())
        starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
        return starts.size == self.distinct and int(np.diff(np.r_[starts, values.size]).max()) <= 30

    @cached_property
    def _texts(self) -> list[str]:
        if not self.is_text or not self.count:
            return []
        places = np.unique(np.linspace(0, self.count - 1, min(_LOOKED_AT, self.count)).astype(int))
        return [str(text).strip() for text in self.present[places.tolist()].to_list()]

    @cached_property
    def faults(self) -> Faults | None:
        """The few texts that keep the column from being one of numbers; nothing if it is not meant to be one."""
        if not (self.is_text or isinstance(self.column.dtype, nw.Object)) or not self.count:
            return None
        # A glance first: most columns of texts hold no numbers at all.
        glance = self.present.head(_LOOKED_AT).to_list()
        if 2 * sum(first_not_number([value]) is None for value in glance) < len(glance) and not self._most(
            _COMMA
        ):
            return None
        return faults_in_numbers(self.column.to_list())

    def _most(self, pattern: re.Pattern[str]) -> bool:
        texts = self._texts
        return bool(texts) and sum(bool(pattern.search(text)) for text in texts) >= _MOST * len(texts)

    @cached_property
    def is_email(self) -> bool:
        """Whether the texts are addresses of e-mail."""
        return self._most(_EMAIL)

    @cached_property
    def is_phone(self) -> bool:
        """Whether the texts look like numbers of telephones, nearly all of them different."""
        return not self.is_date_text and self.is_nearly_unique and self._most(_PHONE)

    @cached_property
    def is_numbered_text(self) -> bool:
        """Whether the texts have digits, as numbers given out have and names of families have not."""
        return self._most(_DIGIT)

    @cached_property
    def is_date_text(self) -> bool:
        """Whether the texts are dates, like dd/mm/yyyy."""
        return hold_dates(self._texts)

    @cached_property
    def is_postcode_text(self) -> bool:
        """Whether the texts look like postcodes that people share."""
        if self.is_nearly_unique:
            return False
        lengths = {len(text) for text in self._texts}
        return self._most(_LETTERED_POSTCODE) or (len(lengths) == 1 and self._most(_DIGITS))

    @cached_property
    def is_firm(self) -> bool:
        """Whether many texts end in a form of company."""
        texts = [text for text in self._texts if " " in text]
        return self.distinct > 5 and sum(bool(_FIRM.search(text)) for text in texts) >= 0.4 * max(
            1, len(self._texts)
        )

    @cached_property
    def holds_names(self) -> bool:
        """Whether a part of the texts look like personal names: free text holds them, classes do not.

        Such names come once, stand among texts in small letters, or begin with a frequent first name.
        """
        if not self.is_text:
            return False
        texts = [str(text).strip() for text in self.present.head(_READ).to_list()]
        named = [text for text in texts if _TWO_NAMES.search(text) and _titled(text)]
        if len(named) < max(2, _PART * len(texts)):
            return False
        in_small_letters = sum(text[:1].islower() for text in texts)
        return 2 * len(set(named)) > len(named) or 2 * in_small_letters > len(texts) or _are_known(named)

    @cached_property
    def is_person(self) -> bool:
        """Whether the texts are two to five words in capitals, and many of them are different or begin with a first name."""
        if self.count < _TELLING or not self._most(_TWO_NAMES):
            return False
        if sum(map(_titled, self._texts)) < _MOST * len(self._texts):
            return False
        return self.distinct >= 0.3 * self.count or _are_known(self._texts)


def _are_known(names: Sequence[str]) -> bool:
    """Whether half of the different names begin with a frequent first name."""
    different = set(names)
    return 2 * sum(bool(_FIRST_NAME.search(name)) for name in different) >= len(different)


def _titled(text: str) -> bool:
    return all(part[:1].isupper() for part in text.split())
