"""What a log line says and whether it is kept: the connector and task it is about, its form, the
levels, and the secrets that must not be in it. Which handlers write where is decided elsewhere.
"""
