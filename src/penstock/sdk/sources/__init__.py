"""The framework for sources: three methods make a task, see ``AbstractSourceTask``."""
