"""What the columns of known files are, written down by reading the files and their descriptions, before any guess."""

IDENTIFIER, QUASI, MEASUREMENT = "identifier", "quasi-identifier", "measurement"
WEIGHT, HOUSEHOLD, CONFIDENTIAL, OTHER = "weight", "household", "confidential", "other"

_LABOUR_FORCE = (
    "REGION SEX AGE MARSTAT KINDPERS NUMYOUNG NUMOLD AGEYOUNG EDUC1 EDUC2 ETNI PRIOCCU POSLABM REGJOBC RECBEN RECUNBEN "
    "RECODBEN RECBILL RECSOSEC RECPENS POSLABLY POSFACT COMPCODE OCCUCODE KINDFACT TENURE FTPTIME ADDJOB JOBFIND"
)
_ADULT = "sex age race marital-status education native-country workclass occupation"
_UTILITIES = (
    "RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES OTHREVENUE OTHRSALES TOTREVENUE TOTSALES"
)

#: For each file of the benchmark data: role → the columns that have it, separated by blanks.
FILES: dict[str, dict[str, str]] = {
    "casc/census.csv": {
        WEIGHT: "AFNLWGT",
        MEASUREMENT: "AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL",
    },
    "casc/tarragona.csv": {
        MEASUREMENT: "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES "
        "LABOR.COSTS DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT"
    },
    "casc/eia.csv": {
        IDENTIFIER: "UTILITYID UTILNAME",
        QUASI: "STATE YEAR MONTH",
        MEASUREMENT: _UTILITIES,
    },
    "casc/eia_11num.csv": {IDENTIFIER: "UTILITYID", MEASUREMENT: _UTILITIES},
    "casc/free1.csv": {QUASI: _LABOUR_FORCE, WEIGHT: "WEIGHT", MEASUREMENT: "INCOME MONEY ASSETS DEBTS"},
    "casc/testdata.csv": {
        QUASI: "urbrur roof walls water electcon relat sex age hhcivil",
        MEASUREMENT: "expend income savings",
        HOUSEHOLD: "ori_hid",
        WEIGHT: "sampling_weight household_weights",
    },
    "casc/testdata2.csv": {
        QUASI: "urbrur roof walls water electcon relat sex age hhcivil relat2 water2 water3",
        MEASUREMENT: "expend income savings category_count",
        HOUSEHOLD: "ori_hid",
        WEIGHT: "sampling_weight",
        OTHER: "represent",
    },
    "casc/francdat.csv": {QUASI: "Key1 Key2 Key3 Key4", MEASUREMENT: "Num1 Num2 Num3", WEIGHT: "w"},
    "casc/microdata_toy.csv": {MEASUREMENT: "one two three four five"},
    "adult/adult.csv": {QUASI: _ADULT, CONFIDENTIAL: "salary-class"},
    "adult/adult_uci_full.csv": {
        QUASI: _ADULT + " education-num relationship",
        WEIGHT: "fnlwgt",
        MEASUREMENT: "capital-gain capital-loss hours-per-week",
        CONFIDENTIAL: "salary-class",
        OTHER: "split",
    },
    # Every value was replaced by a code that counts up as values appear; the names are what is left of the meaning.
    "arx-benchmark/genetic/adult_int.csv": {QUASI: _ADULT, CONFIDENTIAL: "salary-class"},
    "arx-benchmark/genetic/creditcard_int.csv": {
        QUASI: "SEX EDUCATION MARRIAGE AGE",
        MEASUREMENT: "LIMIT_BAL BILL_AMT1 BILL_AMT2 BILL_AMT3 BILL_AMT4 BILL_AMT5 BILL_AMT6 PAY_AMT1 PAY_AMT2 PAY_AMT3 "
        "PAY_AMT4 PAY_AMT5 PAY_AMT6",
        CONFIDENTIAL: "PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6 default-payment-next-month",
    },
    "arx-benchmark/genetic/mach2019_int.csv": {
        QUASI: "age familysize gender married race religion Q1A Q2A Q3A Q4A Q5A Q6A Q7A Q8A Q9A Q10A"
    },
    "tabular/rtauargus/indiv_dt.csv": {
        QUASI: "A10 A21 A88 TYPE SIZE CJ NUTS1 NUTS2 NUTS3",
        WEIGHT: "WEIGHT",
        MEASUREMENT: "TURNOVER PRODUCTION",
    },
    "tabular/piargus/microdata.csv": {
        QUASI: "symbol sbi gk regio",
        MEASUREMENT: "income profit",
        IDENTIFIER: "holding",
    },
    "tabular/sdctable/microdata1.csv": {QUASI: "region gender", MEASUREMENT: "val"},
    "tabular/sdctable/microdata2.csv": {QUASI: "region gender ecoOld ecoNew", MEASUREMENT: "numVal"},
    "tabular/sdctable/vignette_microdat.csv": {QUASI: "V1 V2 V3", MEASUREMENT: "numVal2 numVal1"},
    "tabular/ssbtools/z1micro.csv": {QUASI: "region hovedint", MEASUREMENT: "ant"},
    "tabular/ssbtools/sosialFiktiv.csv": {
        QUASI: "region fylke kostragr hovedint mnd mnd2",
        MEASUREMENT: "ant",
    },
    "water-treatment/water-treatment.csv": {
        MEASUREMENT: " ".join(f"a{number}" for number in range(1, 39)),
    },
}

#: Files of fixed width: role → columns as above, and beside them where each column lies (first character from 1, length).
FIXED_WIDTH: dict[str, tuple[dict[str, str], dict[str, tuple[int, int]]]] = {
    "muargus/Samhh.asc": (
        {
            HOUSEHOLD: "hhnum",
            WEIGHT: "weight",
            QUASI: "town province MarStat sex age employed agehh",
            MEASUREMENT: "income",
        },
        {
            "hhnum": (1, 4),
            "weight": (5, 5),
            "town": (10, 1),
            "province": (11, 1),
            "MarStat": (13, 1),
            "sex": (14, 1),
            "age": (15, 2),
            "employed": (17, 1),
            "income": (18, 4),
            "agehh": (23, 2),
        },
    ),
    "tabular/tauargus/checkTauArgus_enterprise/example_enterprise.asc": (
        {IDENTIFIER: "h_id", QUASI: "act product region mun", MEASUREMENT: "turnover"},
        {
            "h_id": (1, 9),
            "act": (10, 2),
            "product": (12, 2),
            "region": (14, 2),
            "mun": (16, 3),
            "turnover": (19, 8),
        },
    ),
    "tabular/tauargus/checkTauArgus_Simple2D/tau_testW.asc": (
        {
            QUASI: "Year IndustryCode Size Region Request",
            WEIGHT: "Wgt",
            MEASUREMENT: "Var1 Var2 Var3 Var4 Var5 Var6 Var7 Var8",
        },
        {
            "Year": (1, 2),
            "IndustryCode": (4, 5),
            "Size": (9, 2),
            "Region": (12, 2),
            "Wgt": (15, 4),
            "Var1": (19, 9),
            "Var2": (28, 10),
            "Var3": (38, 10),
            "Var4": (48, 10),
            "Var5": (58, 10),
            "Var6": (68, 10),
            "Var7": (78, 10),
            "Var8": (88, 10),
            "Request": (99, 1),
        },
    ),
}


def by_column(roles: dict[str, str]) -> dict[str, str]:
    """Column → role."""
    return {name: role for role, names in roles.items() for name in names.split()}
