"""What people show and read: tables, plots, printouts."""
