"""The block method for records that are in many places: leaves of a split tree, each grouped on its own."""
