"""How many records somebody who does not know who responded would match rightly, estimated from the sample alone."""
