"""The way of one conversation through its stages: units of work, scheduling, the stages themselves."""
