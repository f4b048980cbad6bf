"""What was released before, and what two releases give away together."""
