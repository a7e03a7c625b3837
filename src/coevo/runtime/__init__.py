"""What a running program needs: threads, deadlines and interrupts, memory, random numbers."""
