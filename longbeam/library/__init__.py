"""The Python library: coroutines for what the commands do, and the objects that they return."""
