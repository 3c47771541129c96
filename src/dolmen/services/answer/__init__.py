"""What does an answer hold besides its claims, and how does it go on? The parts of a recall's pack."""
