"""What a model is asked: templates, a Markdown file each, and how they become a prompt within a budget."""
