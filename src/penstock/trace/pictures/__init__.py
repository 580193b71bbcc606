"""What the profile page draws: bars, the pipe, timelines and curves, as SVG. It decides nothing."""
