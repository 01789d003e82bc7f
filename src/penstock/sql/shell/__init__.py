"""The prompt, and how answers are printed."""
