"""What the name of a column says, in the languages of those who keep registers and surveys."""

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache


class Meaning(StrEnum):
    """What a name can say, as a phrase that ends "it looks like …"."""

    CONTACT = "how to reach somebody"
    NUMBER = "a number given to one person or firm"
    NAME = "a name"
    FIRM = "the name of a firm"
    IDENTIFIER = "an identifier"
    PERSON = "one person"
    NUMBERED = "a number in a list"
    FREE_TEXT = "free text"
    HOUSEHOLD = "a household"
    WEIGHT = "a weight"
    BODY = "a measure of the body"
    POSTCODE = "a postcode"
    PLACE = "a place"
    BIRTH = "a time of birth"
    AGE = "an age"
    PERSONAL = "a trait of a person"
    BUSINESS = "a trait of a firm"
    YEAR = "a year"
    TIME = "a time"
    CODE = "a code"
    CLASS = "a class"
    COUNT = "a count"
    AMOUNT = "an amount"
    CONFIDENTIAL = "something confidential"
    TECHNICAL = "something technical"


# Words without accents, separated by blanks; "geburt*" is any word that begins so, "*name" one that ends so, "*geburt*"
# one that holds it, and "raison+sociale" are words that follow each other, or are written as one.
_WORDS = {
    Meaning.CONTACT: """
        email e+mail mail correo courriel *telef* *telephone* phone mobile movil mobil* handy tel tlf telf fax adelfon
        address street direccion direccio domicilio adresse anschrift strasse indirizzo endereco adres straat morada
        adresse* gateadresse gatuadress ip iban bic account+number kontonummer cuenta+bancaria url website""",
    Meaning.NUMBER: """
        dni nif cif nss ssn nin nino passport pasaporte passnummer reisepass nir siren siret steuer+id steuernummer
        sozialversicherungsnummer versichertennummer codice+fiscale partita+iva niss cpf cnpj bsn kvk fodselsnummer
        fodselsnr personnummer personnr personalnummer personenkennziffer cpr cvr organisasjonsnummer orgnr orgnummer
        henkilotunnus hetu pesel nip regon social+security* uuid guid license+plate matricula historia+clinica nhc
        patient*nummer unternehmensnummer betriebsnummer kundennummer matrikelnummer aktenzeichen expediente
        numero+securite+sociale num+secu vat+number duns""",
    Meaning.NAME: """
        name names *name surname lastname firstname forename fullname nombre nombres apellido apellidos nom prenom
        prenoms cognom cognoms cognome nome sobrenome apelido vorname nachname familienname naam voornaam achternaam
        navn fornavn etternavn efternavn mellomnavn namn fornamn efternamn nimi etunimi sukunimi imie nazwisko
        respondent+name contact+person""",
    Meaning.FIRM: """
        firm company enterprise establishment employer business utility holding organisation organization firma
        empresa razon+social denominacion+social societe entreprise raison+sociale etablissement unternehmen betrieb
        arbeitgeber azienda impresa ragione+sociale denominazione firmennavn bedrijf bedrijfsnaam onderneming foretak
        foretag virksomhed bedrift selskap bolag yritys""",
    Meaning.IDENTIFIER: """
        id ids ident identifier identificador identifiant identificativo kennung kennziffer idnr idnum pid uid
        utilityid personid patientid clientid customerid userid studentid recordid caseid respid subjectid memberid
        firmid""",
    Meaning.PERSON: """
        person patient client customer respondent individual subject persona paciente cliente personne individu klient
        pasient patientin persoon deltaker""",
    Meaning.NUMBERED: """
        nr no num number numero nummer index row serial key seq sequence rowid lfd laufende lopenr lopnr ref reference""",
    Meaning.FREE_TEXT: """
        comment comments remark remarks note notes observaciones comentario comentarios commentaire remarque
        bemerkung* kommentar* anmerkung* osservazioni opmerking* merknad*""",
    Meaning.HOUSEHOLD: """
        household* hh hhid hid hhnr hhnum hhno hogar* hog numhog idhog idhogar numhogar nhogar vivienda haushalt*
        hhnummer menage* foyer famiglia famiglie familia familie family agregado+familiar agregado aggregato+familiare
        nucleo+familiare huishoud* husholdning* hushall* husstand* kotitalous llar llars fam gospodarstwo dwelling""",
    Meaning.WEIGHT: """
        w wt wts wgt *wgt *wgt* weight weights *weight *weights gewicht* hochrechnung* wagung* factor+elevacion
        elevacion factor+expansion expansion ponderacion ponderador ponderation pond poids peso pesos
        coeficiente+elevacion fexp facexp pes pesaxe pondera* weegfactor gewichtsfactor weging wegingsfactor vekt
        vekter vikt vikter vaegt vagt paino waga pweight pesi coefficiente+riporto hrf peso+campionario""",
    Meaning.BODY: """
        height talla altura estatura hauteur taille grosse altezza lengte hoyde langd bmi imc body kg lb lbs cm
        corporal korper* corporel pulse pulso blood pressure cholesterol* glucose glucosa birth+weight body+weight
        waist""",
    Meaning.POSTCODE: """
        zip zipcode postcode postal postalcode plz postleitzahl cp cod+postal codigo+postal codi+postal code+postal
        codpostal cap codice+postale cep postnr postnummer postnumber postinumero kod+pocztowy npa""",
    Meaning.PLACE: """
        city town region regio regions province provincia provincie provinz county country nation land bundesland
        kanton canton state district municipality municipio municipi municipalidad mun comarca comunidad ccaa ciudad
        localidad poblacion pais barrio distrito seccion+censal commune departement dept arrondissement pays ville
        quartier gemeinde* kreis* landkreis stadt ort wohnort staat gebiet comune citta regione paese cap+luogo
        concelho freguesia cidade estado+residencia gemeente stad buurt wijk kommune kommun fylke fylker lan landsdel
        bydel lansi kunta maakunta gmina powiat wojewodztwo nuts nuts* lau urbrur urban rural zone zona place location
        residence residencia wohnsitz fips tract parish local+authority centre center centro hospital school schule
        escuela ecole slot resource rec+rand rec+intelligent lat latitude lon lng longitude coord*""",
    Meaning.BIRTH: """
        birth* born dob birthday birthdate birthyear nacimiento naixement naissance geburt* geboren nascita nascimento
        geboorte* fodsel* fodelse* fodt fodd fnac fecnac gebdat gebjahr syntyma* urodzenia""",
    Meaning.AGE: """
        age ages edad edat alter alder eta idade leeftijd ika wiek ageyoung ageold agehh agegroup agegr agecat agey
        altersgruppe altersklasse grupo+edad""",
    Meaning.PERSONAL: """
        sex gender sexo sexe genero genre geschlecht sesso geslacht kjonn kon koen sukupuoli plec race raza ethnic*
        etni* ethnie raca nationality nacionalidad nacionalitat nationalite nationalitat staatsangehorigkeit
        cittadinanza nacionalidade nationaliteit statsborgerskap citizenship religion religio konfession marital
        married marriage marstat civil estado+civil estat+civil etat+civil familienstand stato+civile hhcivil
        burgerlijke sivilstand civilstand relationship relat relacion parentesco household+size family+size familysize
        children hijos fills enfants kinder figli filhos education educ* educacion estudios estudis formation diplome
        bildung* schulabschluss ausbildung titolo+studio istruzione escolaridade instrucao opleiding utdanning
        utbildning uddannelse koulutus occupation* occu* job ocupacion ocupacio profession profesion professio
        professione profissao beruf* beroep yrke ammatti zawod employed employment situacion+laboral erwerbsstatus
        workclass military veteran disability language lengua langue sprache""",
    Meaning.BUSINESS: """
        sector industry industria branche branch activity actividad activite act nace cnae naf ape ateco wz
        wirtschaftszweig sbi sic naics isic sni legal+form forma+juridica rechtsform product products producto produit
        gk size sizeclass size+class tamano taille+entreprise grossenklasse groessenklasse a+10 a+21 a+38 a+64 a+88""",
    Meaning.YEAR: "year years yr ano annee jahr anno jaar ar aar vuosi rok",
    Meaning.TIME: """
        month mes mois monat mese maand maned manad mnd quarter trimestre quartal hour hora heure stunde ora uur day
        dia jour tag giorno dag date fecha data datum dato wave period periodo""",
    Meaning.CODE: "code codes cod *code codigo codi codice kode kod kennzahl key keys clave cle schlussel",
    Meaning.CLASS: """
        class clase classe klasse classes kind kinds type types tipo typ category categoria kategorie group grupo
        groupe gruppe""",
    Meaning.COUNT: """
        count counts hours horas heures stunden staff plantilla effectif effectifs beschaftigte employees empleados
        employes mitarbeiter dipendenti trabalhadores werknemers ansatte anstallda ant antall antal aantal anzahl
        cantidad quantity nombre+de""",
    Meaning.AMOUNT: """
        income* ingreso ingresos ingressos renta rentas sueldo salario salari einkommen gehalt lohn lohne loehne miete
        umsatz* gewinn kosten ausgaben vermogen schulden revenu revenus revenue *revenue salaire loyer depense
        depenses chiffre+affaires benefice reddito redditi spesa spese stipendio fatturato rendimento rendimentos
        despesa despesas inkomen huur omzet winst inntekt formue inkomst skuld indkomst tulot salary salaries wage
        wages pay *pay earnings turnover profit profits sales *sales cost costs *cost *costs tax taxes *tax taxinc
        fica wealth debt debts loan balance bal limit assets capital savings expend* expenditure gasto gastos
        cifra+negocios facturacion ventas beneficio beneficios volumen+negocio money dinero geld amount amounts amt
        importe betrag montant importo bedrag belop price precio prix preis prezzo prijs rent value val *val *value
        payment production produccion treasury funds depreciation""",
    Meaning.CONFIDENTIAL: """
        diagnos* diagnostic* disease diseases illness hiv aids sida malaltia maladie krankheit malattia doenca ziekte
        sykdom sjukdom sygdom enfermedad enfermedades treatment tratamiento medication drug drugs test result results
        resultado befund salary+class default abortion crime conviction sexual politics party+vote vote""",
    Meaning.TECHNICAL: "split fold version schema capacity booked places seats",
}


def words_of(name: str) -> str:
    """The words of a name in small letters without accents, separated by blanks; digits are words of their own.

    >>> words_of("fechaNacimiento"), words_of("Größenklasse_2"), words_of("UTILITYID")
    ('fecha nacimiento', 'grossenklasse 2', 'utilityid')
    """
    plain = name.translate(_LETTERS)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", plain)
    return " ".join(re.findall(r"[a-z]+|\d+", apart.lower()))


_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L", "đ": "d", "’": ""}
)


def meanings(name: str) -> frozenset[Meaning]:
    """All that a name says.

    >>> sorted(meanings("código_postal")), sorted(meanings("blue"))
    ([<Meaning.CODE: 'a code'>, <Meaning.POSTCODE: 'a postcode'>], [])
    """
    words = words_of(name)
    return frozenset(meaning for meaning in _WORDS if _pattern(meaning).search(words))


def only_says(name: str, *allowed: Meaning) -> bool:
    """Whether every word of a name belongs to these meanings; digits and articles count for nothing.

    >>> only_says("num_hogar", Meaning.HOUSEHOLD, Meaning.NUMBERED), only_says("household size", Meaning.HOUSEHOLD)
    (True, False)
    """
    rest = words_of(name)
    for meaning in allowed:
        rest = _pattern(meaning).sub(" ", rest)
    return not re.sub(
        r"\b(\d+|de|del|der|des|du|di|do|da|of|the|la|el|le|ori|orig|original)\b", "", rest
    ).strip()


@lru_cache
def _pattern(meaning: Meaning) -> re.Pattern[str]:
    words = sorted(_WORDS[meaning].split(), key=len, reverse=True)
    items = (word.replace("*", r"[a-z]*").replace("+", r"(?:\s(?:de|del|di|of)\s|\s?)") for word in words)
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(items)})(?![a-z0-9])")
