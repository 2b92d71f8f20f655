"""What is kept on disk: models, journals, sessions and their exports."""
