"""What protection cost and what it bought: information loss, disclosure risk, and scores made of both.

The classic measures are functions of two tables of numbers with the same records in the same order, the original and the
protected one. Loss: ``information_loss``. Risk: ``intervals``, ``linkage`` (by distance) and ``probabilistic`` (by
Fellegi and Sunter). ``fitness`` is the score by which attribute groupings are judged. ``utility`` and ``attacks`` look at
numbers and categories together (``mixed``, ``categories``); ``api`` puts everything together for frames.
"""
