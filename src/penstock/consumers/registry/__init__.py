"""The topic that lists consumers and their offsets."""
