"""Appointments: who is seen where and when, chosen so that nobody stands out."""
