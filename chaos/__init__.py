"""Two workers on one broker under load, and whatever can go wrong at random moments."""
