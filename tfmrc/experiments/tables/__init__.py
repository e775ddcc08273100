"""Users' tables: one reading for every command, and the tables that `tfmrc predict` writes."""
