"""The connectors that come with Penstock.

They use nothing but ``penstock.sdk`` and are found by the entry points of this package, exactly as
a third party's connectors are.
"""
