"""Follows a run directory and sends each step to a tracker, with the tracker's own client."""
