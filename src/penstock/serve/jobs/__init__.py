"""Jobs: what was asked of the service, how far it is, and what came of it. They outlive the process."""
