"""Tables that are published whole, with figures that are changed: controlled rounding, adjustment, cell keys."""
