"""What a service shows of what it has read: pictures of pages, search, and the bounds on such calls."""
