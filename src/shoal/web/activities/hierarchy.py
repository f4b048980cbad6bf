"""Draft hierarchies: there is nothing to draw besides the figures."""

from shoal.microdata.columns.hierarchies.operation import OPERATION
from shoal.web.activities.operation_activity import activity

ACTIVITY = activity(OPERATION, lambda found, settings, context: {})
