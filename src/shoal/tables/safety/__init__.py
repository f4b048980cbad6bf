"""What an attacker can compute: intervals, flows, insiders, whole numbers, the audit."""
