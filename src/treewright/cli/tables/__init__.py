"""Files into arrays: the formats of tables, how their cells are read, and how predictions are written."""
