"""Files: opening and replacing them, the run folder, checkpoints, small files of people."""
