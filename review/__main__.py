"""`python -m review`: the bench without the rest of the command line."""

from review.cli import review

if __name__ == "__main__":
    review(prog_name="review")
