"""Read the sources of tables, each kind of file in its own module, into columns as they are."""
