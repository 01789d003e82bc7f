"""Carriers: long-lived Spark tasks that run leases on threads of their own."""
