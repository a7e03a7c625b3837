#include "csv.h"

enum { LINE_FEED = '\n', CARRIAGE_RETURN = '\r', QUOTE = '"' };

enum { DONE = 0 }; /* the status after one complete record */

enum { PRIME = 0x7FFFFFFF, PRIME_BITS = 31, MIX_SHIFT = 15 };

/* The product with a hash, which is below 2^32, stays below 2^62. */
enum { MAX_POINT = 1 << 30 };

/* ---- bytes to fields ---- */

/* The bytes that `split` reads. */
typedef struct {
    const uint8_t *bytes;
    int64_t stop;
    bool is_final;        /* the file ends at `stop` */
    bool ends_field[256]; /* of each byte: whether it is the delimiter or a line end */
} Text;

/* The end of a text in quotes. */
typedef struct {
    int64_t behind;   /* the position behind the closing quote, or -1 if there is none */
    int64_t n_breaks; /* line breaks inside */
    bool is_plain;    /* no quote inside is doubled */
} Quotes;

typedef struct {
    int64_t start;
    int64_t length;   /* negative: quotes must be removed */
    int64_t end;      /* the position of what ends the field, or -1 if its quotes do not close */
    int64_t n_breaks; /* line breaks inside its quotes */
} Field;

static bool is_line_end(uint8_t byte) {
    return byte == LINE_FEED || byte == CARRIAGE_RETURN;
}

/* Return whether a line ends at `i`: of a carriage return and a line feed, only the second does. */
static bool is_break(const Text *text, int64_t i) {
    if (text->bytes[i] != CARRIAGE_RETURN) return text->bytes[i] == LINE_FEED;
    return i + 1 == text->stop || text->bytes[i + 1] != LINE_FEED;
}

/* Find the end of the quotes that open before `i`. */
static Quotes find_end_of_quotes(const Text *text, int64_t i) {
    Quotes quotes = {.behind = -1, .n_breaks = 0, .is_plain = true};
    for (; i < text->stop; i++) {
        if (text->bytes[i] > QUOTE) continue; /* most bytes: line ends are below, too */
        if (text->bytes[i] != QUOTE) {
            quotes.n_breaks += is_break(text, i);
        } else if (i + 1 < text->stop && text->bytes[i + 1] == QUOTE) {
            quotes.is_plain = false;
            i++;
        } else {
            quotes.behind = i + 1;
            break;
        }
    }
    return quotes;
}

INLINE int64_t find_end_of_field(const Text *text, int64_t i) {
    while (i < text->stop && !text->ends_field[text->bytes[i]]) i++;
    return i;
}

static Field read_quoted_field(const Text *text, int64_t start) {
    Quotes quotes = find_end_of_quotes(text, start);
    if (quotes.behind < 0) return (Field){.start = start, .end = -1};

    int64_t end = find_end_of_field(text, quotes.behind);
    bool is_ready = quotes.is_plain && end == quotes.behind;
    int64_t length = is_ready ? end - 1 - start : start - end;
    return (Field){start, length, end, quotes.n_breaks};
}

INLINE Field read_field(const Text *text, int64_t i) {
    if (i < text->stop && text->bytes[i] == QUOTE) return read_quoted_field(text, i + 1);
    int64_t end = find_end_of_field(text, i);
    return (Field){i, end - i, end, 0};
}

/* Return the start of the next line, or -1 if that depends on the bytes behind the last one. */
static int64_t find_next_line(const Text *text, int64_t line_end) {
    if (line_end == text->stop) return line_end;
    int64_t behind = line_end + 1;
    if (text->bytes[line_end] == LINE_FEED) return behind;
    if (behind == text->stop) return text->is_final ? behind : -1;
    return text->bytes[behind] == LINE_FEED ? behind + 1 : behind;
}

/* Split one record, or skip one blank line. The next row is a column of the two arrays. */
static int64_t split_record(
    const Text *text, int64_t *restrict cursor, int32_t *restrict starts, int32_t *restrict lengths,
    int64_t n_fields, int64_t width
) {
    int64_t i = cursor[POSITION], n_found = 0, n_breaks = 0;
    bool is_blank = is_line_end(text->bytes[i]);
    bool is_complete = is_blank;
    while (!is_complete) {
        Field field = read_field(text, i);
        if (field.end < 0) {
            cursor[FIELD] = cursor[LINE] + n_breaks;
            return text->is_final ? UNCLOSED : MORE;
        }
        i = field.end;
        if (i == text->stop && !text->is_final) return MORE; /* the field can continue */

        if (n_found < n_fields) {
            starts[n_found * width + cursor[ROW]] = (int32_t) field.start;
            lengths[n_found * width + cursor[ROW]] = (int32_t) field.length;
        }
        n_found++;
        n_breaks += field.n_breaks;
        is_complete = i == text->stop || is_line_end(text->bytes[i]);
        i += !is_complete; /* over the delimiter */
    }

    int64_t next = find_next_line(text, i);
    if (next < 0) return MORE;
    if (!is_blank && n_found != n_fields) {
        cursor[FIELD] = n_found;
        return RAGGED;
    }
    cursor[POSITION] = next;
    cursor[ROW] += !is_blank;
    cursor[LINE] += n_breaks + 1;
    return DONE;
}

int64_t split(
    const uint8_t *buffer, int64_t n_buffer, int64_t *cursor, int64_t n_cursor, int32_t *starts,
    int64_t n_starts, int64_t starts_width, int32_t *lengths, int64_t n_lengths,
    int64_t lengths_width
) {
    CHECK(n_cursor == CURSOR_SIZE && n_buffer <= INT32_MAX); /* positions have 32 bits */
    CHECK(0 <= cursor[POSITION] && cursor[POSITION] <= cursor[STOP] && cursor[STOP] <= n_buffer);
    CHECK(0 <= cursor[ROW] && cursor[ROW] <= starts_width);
    CHECK(n_lengths == n_starts && lengths_width == starts_width);
    CHECK(0 <= cursor[DELIMITER] && cursor[DELIMITER] < 256);

    Text text = {.bytes = buffer, .stop = cursor[STOP], .is_final = cursor[FINAL] != 0};
    text.ends_field[LINE_FEED] = text.ends_field[CARRIAGE_RETURN] = true;
    text.ends_field[(uint8_t) cursor[DELIMITER]] = true;
    while (cursor[POSITION] < cursor[STOP] && cursor[ROW] < starts_width) {
        int64_t status = split_record(&text, cursor, starts, lengths, n_starts, starts_width);
        if (status != DONE) return status;
    }
    return MORE;
}

/* ---- fields to codes ---- */

/* Remove the quotes of a field in place and return its new length. The opening quote is before it,
 * the closing quote and the text behind that are part of it. */
static int64_t remove_quotes(uint8_t *field, int64_t length) {
    int64_t n = 0, i = 0;
    while (i < length) {
        bool is_quote = field[i] == QUOTE;
        if (is_quote && !(i + 1 < length && field[i + 1] == QUOTE)) break;
        field[n++] = field[i];
        i += is_quote ? 2 : 1;
    }
    for (i++; i < length; i++) field[n++] = field[i];
    return n;
}

/* Add a coefficient to the polynomial. The hash is reduced as far as below 2^32. */
INLINE int64_t add_coefficient(int64_t hash, int64_t point, int64_t coefficient) {
    hash = hash * point + coefficient;
    return (hash & PRIME) + (hash >> PRIME_BITS);
}

/* Three bytes make one coefficient, which is faster. Four could make two that are equal modulo the
 * prime, so that anyone could write labels that collide. */
static int64_t hash_label(const uint8_t *label, int64_t length, int64_t point) {
    int64_t hash = length;
    int64_t i = 0;
    for (; i + 3 <= length; i += 3) {
        hash = add_coefficient(hash, point, label[i] | label[i + 1] << 8 | label[i + 2] << 16);
    }
    for (; i < length; i++) hash = add_coefficient(hash, point, label[i]);
    return hash ^ (hash >> MIX_SHIFT); /* the slot is the last bits */
}

INLINE bool equals_bytes(const uint8_t *one, const uint8_t *other, int64_t length) {
    for (int64_t i = 0; i < length; i++) {
        if (one[i] != other[i]) return false;
    }
    return true;
}

INLINE bool equals_label(
    const LabelTable *table, int64_t code, const uint8_t *label, int64_t length, int64_t hash
) {
    CHECK(code < table->count[0]);
    int64_t start = table->starts[code];
    if (table->hashes[code] != hash || table->starts[code + 1] - start != length) return false;
    return equals_bytes(table->pool + start, label, length);
}

/* Return the slot of a label, or the empty slot for it. */
static int64_t
find_slot(const LabelTable *table, const uint8_t *label, int64_t length, int64_t hash) {
    int64_t mask = table->n_slots - 1;
    int64_t slot = hash & mask;
    while (table->slots[slot] > 0 &&
           !equals_label(table, table->slots[slot] - 1, label, length, hash)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Add a label and return its code, or -1 if the table is full. */
static int64_t add_label(
    const LabelTable *table, int64_t slot, const uint8_t *label, int64_t length, int64_t hash
) {
    int64_t code = table->count[0];
    int64_t start = table->starts[code];
    bool has_room = code < table->n_hashes && length <= table->n_pool - start;
    if (!has_room || code == MAX_LABELS) return -1;

    memcpy(table->pool + start, label, (size_t) length);
    table->starts[code + 1] = start + length;
    table->hashes[code] = hash;
    table->slots[slot] = (int32_t) code + 1;
    table->count[0] = code + 1;
    return code;
}

static void check_table(const LabelTable *table) {
    CHECK(table->n_starts == table->n_hashes + 1 && table->n_count == 2);
    CHECK(0 <= table->count[0] && table->count[0] <= table->n_hashes);
    CHECK((table->n_slots & (table->n_slots - 1)) == 0);
    CHECK(table->n_slots >= 2 * table->n_hashes); /* half of them stay empty: a lookup ends soon */
    CHECK(0 <= table->count[1] && table->count[1] < MAX_POINT);
    CHECK(table->starts[table->count[0]] <= table->n_pool);
}

int64_t encode(
    uint8_t *buffer, int64_t n_buffer, const int32_t *starts, int64_t n_starts, int32_t *lengths,
    int64_t n_lengths, int64_t first, const LabelTable *table, uint16_t *codes, int64_t n_codes
) {
    CHECK(n_starts == n_codes && n_lengths == n_codes && 0 <= first);
    check_table(table);
    for (int64_t row = first; row < n_codes; row++) {
        int64_t start = starts[row], length = lengths[row];
        CHECK(0 <= start && start + (length < 0 ? -length : length) <= n_buffer);
        uint8_t *field = buffer + start;
        if (length < 0) {
            length = remove_quotes(field, -length);
            lengths[row] = (int32_t) length;
        }

        int64_t hash = hash_label(field, length, table->count[1]);
        int64_t slot = find_slot(table, field, length, hash);
        int64_t code = table->slots[slot] - 1;
        if (code < 0) code = add_label(table, slot, field, length, hash);
        if (code < 0) return row;
        codes[row] = (uint16_t) code;
    }
    return n_codes;
}

void insert_labels(const LabelTable *table) {
    check_table(table);
    int64_t mask = table->n_slots - 1;
    for (int64_t code = 0; code < table->count[0]; code++) {
        int64_t slot = table->hashes[code] & mask;
        while (table->slots[slot] > 0) slot = (slot + 1) & mask;
        table->slots[slot] = (int32_t) code + 1;
    }
}

/* ---- codes to bytes ---- */

/* Copy text `t` to out[n:] and return the new n. */
INLINE int64_t copy_text(const RowTexts *texts, int64_t t, int64_t n) {
    CHECK(0 <= t && t + 1 < texts->n_starts);
    int64_t start = texts->starts[t], stop = texts->starts[t + 1];
    CHECK(0 <= start && start <= stop && stop <= texts->n_pool && stop - start <= texts->n_out - n);
    /* texts have a few bytes: a loop is faster than a call of memcpy */
    for (int64_t i = start; i < stop; i++) texts->out[n++] = texts->pool[i];
    return n;
}

INLINE int64_t get_code(const void *codes, bool has_two_bytes, int64_t i) {
    return has_two_bytes ? ((const uint16_t *) codes)[i] : ((const uint8_t *) codes)[i];
}

/* Inlined, so that neither loop asks how many bytes a code has. */
INLINE int64_t render(
    const void *codes, bool has_two_bytes, int64_t n_codes, int64_t codes_width,
    const int64_t *rows, int64_t n_rows, const RowTexts *texts
) {
    CHECK(texts->first_text_width == 2);
    int64_t n = 0;
    for (int64_t r = 0; r < n_rows; r++) {
        CHECK(0 <= rows[r] && rows[r] < codes_width);
        for (int64_t column = 0; column < texts->n_first_text; column++) {
            const int64_t *first = texts->first_text + 2 * column;
            int64_t variable = first[0];
            CHECK(0 <= variable && variable < n_codes);
            int64_t code = get_code(codes, has_two_bytes, variable * codes_width + rows[r]);
            n = copy_text(texts, first[1] + code, n);
        }
    }
    return n;
}

int64_t render_uint8(
    const uint8_t *codes, int64_t n_codes, int64_t codes_width, const int64_t *rows, int64_t n_rows,
    const RowTexts *texts
) {
    return render(codes, false, n_codes, codes_width, rows, n_rows, texts);
}

int64_t render_uint16(
    const uint16_t *codes, int64_t n_codes, int64_t codes_width, const int64_t *rows,
    int64_t n_rows, const RowTexts *texts
) {
    return render(codes, true, n_codes, codes_width, rows, n_rows, texts);
}
