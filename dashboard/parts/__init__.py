"""Parts of pages that are too long for one file: each begins with the name of its page."""
