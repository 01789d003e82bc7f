"""Differences that are meant, each with its reason. One that no longer shows fails the test."""

from __future__ import annotations

from differential.comparing import Known

KNOWN: tuple[Known, ...] = ()
