"""Models that find things in photos and outline them. photos/ works out what a thing measures."""
