"""Learning rate schedules of the papers."""
