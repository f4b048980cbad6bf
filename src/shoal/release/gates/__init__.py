"""What must hold before anything is released."""
