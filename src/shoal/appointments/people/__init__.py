"""People and slots: how they are read, who may come where, and how every person gets a slot back."""
