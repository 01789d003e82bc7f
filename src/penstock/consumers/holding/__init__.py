"""Who holds a name: membership, rivals, and keeping the offsets."""
