"""Columns that usually have no parents are recognised by name, in seven languages."""

import pytest

from coevo.data.table_audit import describe_roots, is_root_name

ROOTS = """age Age AGE_YEARS patientAge age.at.visit Alter âge edad idade età leeftijd agecat
sex SEX gender Geschlecht sexe sexo sesso geslacht género race Ethnicity raza raça etnia
dob date_of_birth birthYear Geburtsdatum date_naissance fecha_nacimiento data_nascita geboortejaar
rx trt TRT01 treatment study_arm ARMCD randomised Behandlung traitement tratamiento tratamento
trattamento behandeling group Gruppe groupe grupo gruppo groep year Jahr site centre_id Zentrum
female is_male date country"""
OTHERS = """stage usage percentage average Agent voltage agenda sextant blood_group age_drive
treatment_response years_in_school armband landscape siteswap crp outcome ill grouping dates mage
hospital weight smoker x"""


@pytest.mark.parametrize("name", ROOTS.split())
def test_usual_roots(name):
    assert is_root_name(name)


@pytest.mark.parametrize("name", [*OTHERS.split(), "", "123", "_"])
def test_other_names(name):
    assert not is_root_name(name)


def test_the_option_can_be_pasted():
    assert describe_roots(["sex"]) == "sex has parents here; if it cannot, --root sex"
    assert describe_roots(["age at visit", "sex"]) == (
        "age at visit and sex have parents here; if they cannot, --root 'age at visit,sex'"
    )
