"""What can be done with a table, each declared once: tabulate, suppress, audit."""
