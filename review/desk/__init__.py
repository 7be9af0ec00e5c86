"""The owner's desk: a full screen over the queue of what waits for a decision."""
