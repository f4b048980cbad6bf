"""Appointments for other programs: calendars and FHIR."""
