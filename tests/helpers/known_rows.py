"""Rows with unknown cells as plain values."""


def decode_rows(rows):
    """Return the states of each column of `KnownRows`, None if a cell is unknown."""
    return {
        variable.name: [
            None if code < 0 else variable.states[code] for code in rows.codes[variable.name]
        ]
        for variable in rows.variables
        if variable.name in rows.codes
    }
