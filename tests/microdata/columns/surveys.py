"""Invented surveys in several languages, with the role of each column beside it. Nobody in them exists."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from tests.microdata.columns.expected_roles import (
    CONFIDENTIAL,
    HOUSEHOLD,
    IDENTIFIER,
    MEASUREMENT,
    OTHER,
    QUASI,
    WEIGHT,
)

Column = tuple[str, str, Any]
COUNT = 400

_SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "re",
    "tu",
    "na",
    "bel",
    "dor",
    "fin",
    "gar",
    "hes",
    "jor",
    "lam",
    "nor",
    "pel",
)


class Draw:
    """Columns as surveys have them, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def words(self, count: int, parts: int = 2) -> list[str]:
        return ["".join(self._random.choice(_SYLLABLES, parts)).capitalize() for _ in range(count)]

    def full_names(self) -> list[str]:
        first, last = self.words(60), self.words(250, 3)
        return [
            f"{a} {b}"
            for a, b in zip(self._random.choice(first, COUNT), self._random.choice(last, COUNT), strict=True)
        ]

    def surnames(self) -> list[str]:
        return [str(name) for name in self._random.choice(self.words(120, 3), COUNT)]

    def firms(self, *forms: str) -> list[str]:
        """Few enough firms that each comes several times, as in a monthly survey."""
        firms = [f"{word} {self._random.choice(forms)}" for word in self.words(70, 3)]
        return [str(firm) for firm in self._random.choice(firms, COUNT)]

    def emails(self) -> list[str]:
        return [f"{word.lower()}@example.org" for word in self.words(COUNT, 3)]

    def phones(self, prefix: str = "+34 6") -> list[str]:
        return [f"{prefix}{number:08}" for number in self._random.integers(0, 10**8, COUNT)]

    def letters_and_digits(self) -> list[str]:
        """National numbers: eight digits and a letter."""
        numbers = self._random.choice(10**8, COUNT, replace=False)
        return [f"{number:08}{chr(65 + number % 23)}" for number in numbers]

    def running(self, first: int = 1) -> np.ndarray:
        return np.arange(first, first + COUNT)

    def shuffled_numbers(self, first: int = 10_001) -> np.ndarray:
        return self._random.permutation(np.arange(first, first + COUNT))

    def sampled_numbers(self, among: int = 5_000) -> np.ndarray:
        """Numbers of a register of which a sample was drawn."""
        return self._random.choice(among, COUNT, replace=False)

    def households(self, first: int = 1) -> np.ndarray:
        sizes = self._random.choice([1, 2, 3, 4, 5], COUNT, p=[0.3, 0.3, 0.2, 0.15, 0.05])
        return np.repeat(np.arange(first, first + COUNT), sizes)[:COUNT]

    def shuffled_households(self, first: int = 5_000) -> np.ndarray:
        return self._random.permutation(self.households(first))

    def postcodes(self, first: int = 28_001, different: int = 60) -> np.ndarray:
        return self._random.choice(np.arange(first, first + 40 * different, 40), COUNT)

    def postcode_texts(self, digits: int = 5, different: int = 60) -> list[str]:
        return [f"{number:0{digits}}" for number in self.postcodes(1_001, different)]

    def dutch_postcodes(self) -> list[str]:
        return [
            f"{number} {letters}"
            for number, letters in zip(self.postcodes(1_011, 30), self.some("AB", "KL", "XZ"))
        ]

    def dates(self, form: str = "{d:02}/{m:02}/{y}", first: int = 1940, last: int = 2005) -> list[str]:
        years = self._random.integers(first, last, COUNT)
        months, days = self._random.integers(1, 13, COUNT), self._random.integers(1, 29, COUNT)
        return [form.format(y=y, m=m, d=d) for y, m, d in zip(years, months, days, strict=True)]

    def real_dates(self) -> pl.Series:
        return pl.Series(self.dates("{y}-{m:02}-{d:02}")).str.to_date()

    def ages(self) -> np.ndarray:
        return self._random.integers(16, 95, COUNT)

    def years(self) -> np.ndarray:
        return self._random.integers(1935, 2008, COUNT)

    def amounts(self) -> np.ndarray:
        return np.round(self._random.lognormal(10, 0.8, COUNT), 2)

    def whole_amounts(self) -> np.ndarray:
        """All different, as the figures of a census of incomes are, and still amounts."""
        drawn = np.unique(np.round(self._random.lognormal(10, 1.0, 3 * COUNT)).astype(np.int64))
        return self._random.choice(drawn, COUNT, replace=False)

    def counts(self) -> np.ndarray:
        return np.maximum(1, np.round(self._random.lognormal(3, 1.2, COUNT)).astype(np.int64))

    def weights(self) -> np.ndarray:
        return np.round(self._random.uniform(20, 900, COUNT), 3)

    def whole_weights(self) -> np.ndarray:
        return self._random.integers(200, 5_000, COUNT)

    def some(self, *values: Any) -> list[Any]:
        return [values[place] for place in self._random.integers(0, len(values), COUNT)]

    def flags(self) -> list[bool]:
        return [answer == 1 for answer in self.some(0, 1)]

    def places(self, different: int = 90) -> list[str]:
        return [str(name) for name in self._random.choice(self.words(different, 3), COUNT)]

    def measures(self) -> np.ndarray:
        return np.round(self._random.normal(80, 12, COUNT), 1)

    def answers(self) -> list[str]:
        """Free text: what somebody wrote."""
        return [" ".join(self._random.choice(_SYLLABLES, 9)) for _ in range(COUNT)]


def spanish(d: Draw) -> list[Column]:
    return [
        ("nombre", IDENTIFIER, d.full_names()),
        ("apellido1", IDENTIFIER, d.surnames()),
        ("DNI", IDENTIFIER, d.letters_and_digits()),
        ("teléfono", IDENTIFIER, d.phones()),
        ("correo", IDENTIFIER, d.emails()),
        ("dirección", IDENTIFIER, d.answers()),
        ("num_hogar", HOUSEHOLD, d.households()),
        ("fecha_nacimiento", QUASI, d.dates()),
        ("edad", QUASI, d.ages()),
        ("sexo", QUASI, d.some("hombre", "mujer")),
        ("municipio", QUASI, d.places()),
        ("código_postal", QUASI, d.postcodes()),
        ("estado_civil", QUASI, d.some(1, 2, 3, 4)),
        ("nivel_estudios", QUASI, d.some("sin estudios", "primaria", "secundaria", "universidad")),
        ("ocupación", QUASI, d.places(40)),
        ("nacionalidad", QUASI, d.some("ES", "MA", "RO", "EC")),
        ("ingresos", MEASUREMENT, d.whole_amounts()),
        ("gasto_mensual", MEASUREMENT, d.amounts()),
        ("diagnóstico", CONFIDENTIAL, d.some("I10", "E11", "J45", "F32")),
        ("factor_elevacion", WEIGHT, d.weights()),
    ]


def spanish_firms(d: Draw) -> list[Column]:
    return [
        ("razon_social", IDENTIFIER, d.firms("S.A.", "S.L.", "S. Coop.")),
        ("CIF", IDENTIFIER, d.letters_and_digits()),
        ("CNAE", QUASI, d.some(1071, 2511, 4711, 5510)),
        ("provincia", QUASI, d.some("Toledo", "Huesca", "Soria")),
        ("plantilla", MEASUREMENT, d.counts()),
        ("cifra_negocios", MEASUREMENT, d.whole_amounts()),
        ("beneficio", MEASUREMENT, d.amounts()),
        ("mes", QUASI, d.some(*range(1, 13))),
    ]


def catalan(d: Draw) -> list[Column]:
    return [
        ("nom", IDENTIFIER, d.full_names()),
        ("cognoms", IDENTIFIER, d.surnames()),
        ("número llar", HOUSEHOLD, d.shuffled_households()),
        ("data_naixement", QUASI, d.dates("{d:02}-{m:02}-{y}")),
        ("edat", QUASI, d.ages()),
        ("sexe", QUASI, d.some("home", "dona")),
        ("comarca", QUASI, d.places(40)),
        ("codi_postal", QUASI, d.postcode_texts()),
        ("ingressos", MEASUREMENT, d.amounts()),
        ("malaltia", CONFIDENTIAL, d.some("cap", "asma", "diabetis")),
        ("pes_mostral", WEIGHT, d.weights()),
    ]


def german(d: Draw) -> list[Column]:
    return [
        ("Vorname", IDENTIFIER, d.surnames()),
        ("Nachname", IDENTIFIER, d.surnames()),
        ("Personalnummer", IDENTIFIER, d.sampled_numbers()),
        ("Haushaltsnummer", HOUSEHOLD, d.households(1000)),
        ("Geburtsdatum", QUASI, d.dates("{d:02}.{m:02}.{y}")),
        ("Alter", QUASI, d.ages()),
        ("Geschlecht", QUASI, d.some("m", "w")),
        ("PLZ", QUASI, d.postcodes(10_115)),
        ("Gemeinde", QUASI, d.places()),
        ("Familienstand", QUASI, d.some("ledig", "verheiratet", "geschieden")),
        ("Beruf", QUASI, d.places(40)),
        ("Einkommen", MEASUREMENT, d.whole_amounts()),
        ("Miete", MEASUREMENT, d.amounts()),
        ("Diagnose", CONFIDENTIAL, d.some("A", "B", "C")),
        ("Hochrechnungsfaktor", WEIGHT, d.weights()),
    ]


def german_firms(d: Draw) -> list[Column]:
    return [
        ("Firma", IDENTIFIER, d.firms("GmbH", "AG", "KG", "GmbH & Co. KG")),
        ("Unternehmensnummer", IDENTIFIER, d.shuffled_numbers()),
        ("Wirtschaftszweig", QUASI, d.some("C10", "F41", "G47")),
        ("Bundesland", QUASI, d.some("BY", "BE", "SN")),
        ("Beschäftigte", MEASUREMENT, d.counts()),
        ("Umsatz", MEASUREMENT, d.whole_amounts()),
        ("Löhne", MEASUREMENT, d.amounts()),
        ("Größenklasse", QUASI, d.some(1, 2, 3)),
    ]


def french(d: Draw) -> list[Column]:
    return [
        ("prénom", IDENTIFIER, d.surnames()),
        ("nom_famille", IDENTIFIER, d.surnames()),
        ("courriel", IDENTIFIER, d.emails()),
        ("id_ménage", HOUSEHOLD, d.households()),
        ("date_de_naissance", QUASI, d.dates()),
        ("âge", QUASI, d.ages()),
        ("sexe", QUASI, d.some(1, 2)),
        ("commune", QUASI, d.places()),
        ("code_postal", QUASI, d.postcode_texts()),
        ("département", QUASI, d.some("01", "2A", "75")),
        ("profession", QUASI, d.places(40)),
        ("revenu", MEASUREMENT, d.whole_amounts()),
        ("loyer", MEASUREMENT, d.amounts()),
        ("maladie", CONFIDENTIAL, d.some("oui", "non")),
        ("pondération", WEIGHT, d.weights()),
    ]


def french_firms(d: Draw) -> list[Column]:
    return [
        ("raison_sociale", IDENTIFIER, d.firms("SARL", "SAS", "SA")),
        ("SIRET", IDENTIFIER, [f"{number:014}" for number in d.sampled_numbers(10**7)]),
        ("APE", QUASI, d.some("1071A", "4711B", "5510Z")),
        ("effectif", MEASUREMENT, d.counts()),
        ("chiffre_affaires", MEASUREMENT, d.whole_amounts()),
    ]


def italian(d: Draw) -> list[Column]:
    return [
        ("cognome", IDENTIFIER, d.surnames()),
        ("codice_fiscale", IDENTIFIER, d.letters_and_digits()),
        ("codice_famiglia", HOUSEHOLD, d.households()),
        ("data_nascita", QUASI, d.dates()),
        ("età", QUASI, d.ages()),
        ("sesso", QUASI, d.some("M", "F")),
        ("comune", QUASI, d.places()),
        ("CAP", QUASI, d.postcodes(20_121)),
        ("titolo_studio", QUASI, d.some(1, 2, 3)),
        ("reddito", MEASUREMENT, d.whole_amounts()),
        ("spesa", MEASUREMENT, d.amounts()),
        ("peso_campionario", WEIGHT, d.whole_weights()),
    ]


def portuguese(d: Draw) -> list[Column]:
    return [
        ("nome", IDENTIFIER, d.full_names()),
        ("NIF", IDENTIFIER, d.sampled_numbers(10**8) + 10**8),
        ("agregado_familiar", HOUSEHOLD, d.households()),
        ("data_nascimento", QUASI, d.dates("{y}/{m:02}/{d:02}")),
        ("idade", QUASI, d.ages()),
        ("sexo", QUASI, d.some("H", "M")),
        ("concelho", QUASI, d.places()),
        ("escolaridade", QUASI, d.some("básico", "secundário", "superior")),
        ("rendimento", MEASUREMENT, d.whole_amounts()),
        ("despesa", MEASUREMENT, d.amounts()),
        ("doença", CONFIDENTIAL, d.some("sim", "não")),
        ("ponderador", WEIGHT, d.weights()),
    ]


def dutch(d: Draw) -> list[Column]:
    return [
        ("achternaam", IDENTIFIER, d.surnames()),
        ("BSN", IDENTIFIER, d.sampled_numbers(10**8) + 10**8),
        ("huishoudnr", HOUSEHOLD, d.households()),
        ("geboortedatum", QUASI, d.dates("{d:02}-{m:02}-{y}")),
        ("leeftijd", QUASI, d.ages()),
        ("geslacht", QUASI, d.some("man", "vrouw")),
        ("gemeente", QUASI, d.places()),
        ("postcode", QUASI, d.dutch_postcodes()),
        ("beroep", QUASI, d.places(40)),
        ("inkomen", MEASUREMENT, d.whole_amounts()),
        ("huur", MEASUREMENT, d.amounts()),
        ("weegfactor", WEIGHT, d.weights()),
    ]


def norwegian(d: Draw) -> list[Column]:
    return [
        ("fornavn", IDENTIFIER, d.surnames()),
        ("etternavn", IDENTIFIER, d.surnames()),
        ("fødselsnummer", IDENTIFIER, d.sampled_numbers(10**9) + 10**10),
        ("husholdningsnr", HOUSEHOLD, d.households()),
        ("fødselsdato", QUASI, d.dates("{d:02}.{m:02}.{y}")),
        ("alder", QUASI, d.ages()),
        ("kjønn", QUASI, d.some("mann", "kvinne")),
        ("kommune", QUASI, d.places()),
        ("postnummer", QUASI, d.postcode_texts(4)),
        ("yrke", QUASI, d.places(40)),
        ("inntekt", MEASUREMENT, d.whole_amounts()),
        ("formue", MEASUREMENT, d.amounts()),
        ("vekt", WEIGHT, d.weights()),
    ]


def swedish(d: Draw) -> list[Column]:
    return [
        ("efternamn", IDENTIFIER, d.surnames()),
        ("personnummer", IDENTIFIER, d.dates("{y}{m:02}{d:02}-1234")),
        ("hushåll_id", HOUSEHOLD, d.shuffled_households()),
        ("födelseår", QUASI, d.years()),
        ("ålder", QUASI, d.ages()),
        ("kön", QUASI, d.some(1, 2)),
        ("län", QUASI, d.some(1, 3, 12, 14)),
        ("utbildning", QUASI, d.some("låg", "hög")),
        ("inkomst", MEASUREMENT, d.whole_amounts()),
        ("skuld", MEASUREMENT, d.amounts()),
        ("vikt", WEIGHT, d.weights()),
    ]


def danish(d: Draw) -> list[Column]:
    return [
        ("efternavn", IDENTIFIER, d.surnames()),
        ("cpr", IDENTIFIER, d.sampled_numbers(10**8) + 10**8),
        ("husstand_nr", HOUSEHOLD, d.households()),
        ("fødselsdag", QUASI, d.dates("{d:02}-{m:02}-{y}")),
        ("køn", QUASI, d.some("m", "k")),
        ("kommune", QUASI, d.places(40)),
        ("indkomst", MEASUREMENT, d.whole_amounts()),
        ("vægt", WEIGHT, d.weights()),
    ]


def english(d: Draw) -> list[Column]:
    return [
        ("First Name", IDENTIFIER, d.surnames()),
        ("surname", IDENTIFIER, d.surnames()),
        ("patientId", IDENTIFIER, d.sampled_numbers()),
        ("e-mail", IDENTIFIER, d.emails()),
        ("mobile_phone", IDENTIFIER, d.phones("07")),
        ("household_id", HOUSEHOLD, d.households()),
        ("householdSize", QUASI, d.some(1, 2, 3, 4)),
        ("household_income", MEASUREMENT, d.whole_amounts()),
        ("date of birth", QUASI, d.real_dates()),
        ("year_of_birth", QUASI, d.years()),
        ("ageGroup", QUASI, d.some("18-34", "35-64", "65+")),
        ("gender", QUASI, d.some("f", "m", "x")),
        ("postcode", QUASI, d.postcode_texts()),
        ("county_name", QUASI, d.places(30)),
        ("region_id", QUASI, d.some(1, 2, 3, 4, 5)),
        ("number_of_children", QUASI, d.some(0, 1, 2, 3)),
        ("admission", QUASI, d.dates("{m:02}/{d:02}/{y}", 2020, 2024)),
        ("smoker", QUASI, d.flags()),
        ("blood_pressure", MEASUREMENT, d.measures()),
        ("height_cm", MEASUREMENT, d.measures()),
        ("weight_kg", MEASUREMENT, d.measures()),
        ("HIV", CONFIDENTIAL, d.some("yes", "no")),
        ("comments", IDENTIFIER, d.answers()),
        ("country", QUASI, ["X"] * COUNT),
        ("schema", OTHER, [3] * COUNT),
        ("empty", OTHER, pl.Series([None] * COUNT, dtype=pl.String)),
    ]


def nameless(d: Draw) -> list[Column]:
    """Names that say nothing: the values alone decide."""
    return [
        ("x1", IDENTIFIER, d.running()),
        ("x2", IDENTIFIER, d.shuffled_numbers()),
        ("x3", IDENTIFIER, d.sampled_numbers()),
        ("x4", IDENTIFIER, d.emails()),
        ("x5", IDENTIFIER, d.phones()),
        ("x6", IDENTIFIER, d.full_names()),
        ("x7", IDENTIFIER, d.firms("GmbH", "Ltd", "S.A.")),
        ("x8", IDENTIFIER, d.letters_and_digits()),
        ("x9", HOUSEHOLD, d.households()),
        ("x10", QUASI, d.years()),
        ("x11", QUASI, d.dates()),
        ("x12", QUASI, d.dates("{d}.{m}.{y}")),
        ("x13", QUASI, d.real_dates()),
        ("x14", QUASI, d.postcode_texts()),
        ("x15", QUASI, d.postcodes()),
        ("x16", QUASI, d.some("a", "b", "c")),
        ("x17", QUASI, d.some(1, 2, 3, 9)),
        ("x18", QUASI, d.places()),
        ("x19", MEASUREMENT, d.amounts()),
        ("x20", MEASUREMENT, d.whole_amounts()),
        ("x21", MEASUREMENT, d.counts()),
        ("x22", OTHER, [7] * COUNT),
    ]


SURVEYS: dict[str, Callable[[Draw], list[Column]]] = {
    maker.__name__: maker
    for maker in (
        spanish,
        spanish_firms,
        catalan,
        german,
        german_firms,
        french,
        french_firms,
        italian,
        portuguese,
        dutch,
        norwegian,
        swedish,
        danish,
        english,
        nameless,
    )
}


def survey(name: str, seed: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """The records of a survey and the role of each of its columns."""
    columns = SURVEYS[name](Draw(seed))
    return pl.DataFrame({name: values for name, _, values in columns}), {
        name: role for name, role, _ in columns
    }
