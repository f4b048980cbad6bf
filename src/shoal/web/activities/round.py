"""Round a table: what its page draws besides the figures."""

from shoal.tables.rounding.controlled_rounding.operation import OPERATION
from shoal.web.activities.changed_table import picture
from shoal.web.activities.operation_activity import activity

ACTIVITY = activity(OPERATION, picture)
