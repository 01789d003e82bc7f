"""The workers of one group: which is the leader, which runs what, how they communicate."""
