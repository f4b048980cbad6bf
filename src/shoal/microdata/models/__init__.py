"""Models of privacy: what has to hold for the people who share a combination of keys, and for a release as a whole."""
