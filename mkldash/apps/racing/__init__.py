"""What the race app is made of: state, conductor, words and page."""
