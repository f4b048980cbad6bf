"""Work in processes of its own: submitted, watched, paused, stopped, and kept when it is done."""
