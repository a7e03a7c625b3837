/* Text tables: bytes to fields, fields to codes, and codes back to bytes.
 *
 * `split` walks once over a buffer of bytes and stores the position of every field of each complete
 * record. `encode` then looks up the fields of one column in a hash table of labels; all labels are
 * in one pool of bytes. The code of a label is its rank by first occurrence. No text is decoded,
 * and no cell becomes an object of Python. A function that needs more space returns to Python,
 * which enlarges the arrays and calls it again.
 *
 * The bytes come from a file that anyone may have written, so no position is believed: each loop
 * over bytes stops at an end that is compared with every position.
 *
 * The rules for quotes are those of Python's `csv` module: a quote has a meaning only at the start
 * of a field, two quotes inside are one quote, and text after the closing quote is kept.
 *
 * A hash is a polynomial modulo the prime 2^31 - 1, at a point that each table draws for itself.
 * Its coefficients are the length of the label and its bytes. So nobody can write a file whose
 * labels collide.
 */
#ifndef ENGINE_CSV_H
#define ENGINE_CSV_H

#include "engine.h"

/* The status that `split` returns. */
enum {
    MORE = 1,    /* it needs more bytes, or space for more rows */
    RAGGED = 2,  /* a record and the header have different numbers of fields */
    UNCLOSED = 3 /* the file ends inside quotes */
};

/* The entries of the cursor of `split`. */
enum {
    POSITION, /* POSITION to STOP is the rest of the buffer */
    STOP,
    FINAL,     /* not zero: the file ends at STOP */
    DELIMITER, /* a byte; no quote and no line end */
    ROW,       /* the next row to overwrite */
    LINE,      /* the line of the next record */
    FIELD,     /* explains an error: the number of fields, or the line of an unclosed quote */
    CURSOR_SIZE
};

/* Codes have 16 bits. */
enum { MAX_LABELS = 65535 };

/* The labels of one column. */
typedef struct {
    int32_t *slots; /* a power of two, open addressing: label + 1, or 0 for empty */
    int64_t n_slots;
    int64_t *hashes; /* the hash of each label */
    int64_t n_hashes;
    int64_t *starts; /* the position of each label in the pool, and the end of the last one */
    int64_t n_starts;
    uint8_t *pool;
    int64_t n_pool;
    int64_t *count; /* the number of labels, and the point of the hash (below 2^30) */
    int64_t n_count;
} LabelTable;

/* The text of code k of variable v is pool[starts[t]] to pool[starts[t + 1] - 1] with
 * t = first_text + k. It ends with its delimiter or line end. */
typedef struct {
    const int64_t *first_text; /* (n_columns, 2): a variable and its first text, in the order of
                                * output */
    int64_t n_first_text;
    int64_t first_text_width;
    const int64_t *starts; /* the position of each text in the pool, and the end of the last one */
    int64_t n_starts;
    const uint8_t *pool;
    int64_t n_pool;
    uint8_t *out; /* with room for the longest lines that can occur */
    int64_t n_out;
} RowTexts;

/* Overwrite `starts` and `lengths`, both (n_fields, n_rows), with the next records.
 *
 * A negative length means that quotes must still be removed from the field. The cursor moves to the
 * end of the last complete record. If a record is invalid, the cursor stays before it. */
ENGINE_API int64_t split(
    const uint8_t *buffer, int64_t n_buffer, int64_t *cursor, int64_t n_cursor, int32_t *starts,
    int64_t n_starts, int64_t starts_width, int32_t *lengths, int64_t n_lengths,
    int64_t lengths_width
);

/* Overwrite codes[first:] with the codes of fields; add new labels to `table`.
 *
 * Return the number of encoded rows, which is less than the number of rows if the table is full.
 * Remove the quotes of fields in place, in `buffer` and `lengths`. */
ENGINE_API int64_t encode(
    uint8_t *buffer, int64_t n_buffer, const int32_t *starts, int64_t n_starts, int32_t *lengths,
    int64_t n_lengths, int64_t first, const LabelTable *table, uint16_t *codes, int64_t n_codes
);

/* Insert all labels into empty slots, after the table has grown. */
ENGINE_API void insert_labels(const LabelTable *table);

/* Write rows of text into `out` of `texts` and return the number of bytes written. */
ENGINE_API int64_t render_uint8(
    const uint8_t *codes, int64_t n_codes, int64_t codes_width, const int64_t *rows, int64_t n_rows,
    const RowTexts *texts
);

/* The same for codes of two bytes. */
ENGINE_API int64_t render_uint16(
    const uint16_t *codes, int64_t n_codes, int64_t codes_width, const int64_t *rows,
    int64_t n_rows, const RowTexts *texts
);

#endif
