"""Records of people or firms: microaggregation, its measures, and which attributes to protect together."""
