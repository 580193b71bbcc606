"""Models that find and read lines of text on a CPU. Model servers are asked in engines/chat."""
