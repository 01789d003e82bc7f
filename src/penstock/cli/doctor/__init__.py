"""`penstock doctor`: whether this machine is fit for `penstock up`, and what to do where not.

Each module but `command` is a group of checks. Checks only look: they write nothing, start neither
Kafka nor Spark, and answer within seconds.
"""
