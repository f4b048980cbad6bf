"""Charts and the self-contained HTML report; neither ever holds a confidential value."""
