#include "cuthill_mckee.h"

#include "bit_rows.h"

/* The rows of `spare` in a sweep: bit sets of variables. */
enum { LEFT, SEEN, LEVEL, REACHED, N_SPARE };
_Static_assert((int) N_SPARE == (int) WORD_ROWS, "as Python allocates them");

/* The rows of `integers` in a sweep. */
enum { MEMBERS, DEGREE, N_SCRATCH };

typedef struct {
    int64_t n_words;
    uint64_t *rows, *spare; /* the neighbours of each variable, and WORD_ROWS more rows */
    int64_t *members;       /* of a bit set */
} Sweep;

INLINE const uint64_t *row_of(const Sweep *sweep, int64_t variable) {
    return sweep->rows + variable * sweep->n_words;
}

static uint64_t *spare_at(const Sweep *sweep, int64_t row) {
    return sweep->spare + row * sweep->n_words;
}

/* Return which of some variables has the fewest neighbours; of equal ones, the first. */
static int64_t find_lowest(const Sweep *sweep, const uint64_t *bits, const int64_t *degree) {
    int64_t n = list_bits(bits, sweep->n_words, sweep->members), lowest = sweep->members[0];
    for (int64_t i = 1; i < n; i++) {
        if (degree[sweep->members[i]] < degree[lowest]) lowest = sweep->members[i];
    }
    return lowest;
}

/* Return the number of distances from a variable; overwrite LEVEL by the variables farthest away.
 */
static int64_t count_levels(const Sweep *sweep, int64_t from) {
    uint64_t *seen = spare_at(sweep, SEEN), *level = spare_at(sweep, LEVEL);
    uint64_t *reached = spare_at(sweep, REACHED);
    size_t size = (size_t) sweep->n_words * sizeof *seen;
    memset(seen, 0, size);
    add_bit(seen, from);
    memcpy(level, seen, size);
    for (int64_t n_levels = 1;; n_levels++) {
        memset(reached, 0, size);
        int64_t n = list_bits(level, sweep->n_words, sweep->members);
        for (int64_t i = 0; i < n; i++) {
            const uint64_t *row = row_of(sweep, sweep->members[i]);
            for (int64_t word = 0; word < sweep->n_words; word++) reached[word] |= row[word];
        }
        bool is_new = false;
        for (int64_t word = 0; word < sweep->n_words; word++) {
            reached[word] &= ~seen[word];
            seen[word] |= reached[word];
            is_new |= reached[word] != 0;
        }
        if (!is_new) return n_levels;
        memcpy(level, reached, size);
    }
}

/* Return a far end of the component of a variable. */
static int64_t find_far_end(const Sweep *sweep, int64_t start, const int64_t *degree) {
    int64_t n_levels = count_levels(sweep, start);
    for (;;) {
        int64_t end = find_lowest(sweep, spare_at(sweep, LEVEL), degree);
        int64_t n_others = count_levels(sweep, end);
        if (n_others <= n_levels) return start;
        start = end;
        n_levels = n_others;
    }
}

/* Append the neighbours of a variable that are left, those with the fewest neighbours first. */
static int64_t
append_neighbours(const Sweep *sweep, int64_t variable, const int64_t *degree, int64_t *to) {
    uint64_t *left = spare_at(sweep, LEFT), *near = spare_at(sweep, REACHED);
    const uint64_t *row = row_of(sweep, variable);
    for (int64_t word = 0; word < sweep->n_words; word++) {
        near[word] = row[word] & left[word];
        left[word] &= ~row[word];
    }
    int64_t n = list_bits(near, sweep->n_words, sweep->members);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = sweep->members[i], at = i;
        for (; at > 0 && degree[to[at - 1]] > degree[v]; at--) to[at] = to[at - 1];
        to[at] = v;
    }
    return n;
}

void list_cuthill_mckee(const InteractionGraph *graph, int64_t *sequence, int64_t n_sequence) {
    CHECK(n_sequence == graph->n_arities);
    CHECK(graph->n_integers >= N_SCRATCH && graph->integers_width > graph->n_arities);
    int64_t n = graph->n_arities, n_listed = 0;
    uint64_t *rows = connect_variables(graph);
    const Sweep sweep = {
        .n_words = graph->rows_width,
        .rows = rows,
        .spare = rows + n * graph->rows_width,
        .members = graph->integers + MEMBERS * graph->integers_width,
    };
    int64_t *degree = graph->integers + DEGREE * graph->integers_width;
    uint64_t *left = spare_at(&sweep, LEFT);
    memset(left, 0, (size_t) sweep.n_words * sizeof *left);
    for (int64_t v = 0; v < n; v++) {
        add_bit(left, v);
        degree[v] = count_bits(row_of(&sweep, v), sweep.n_words);
    }
    for (int64_t next = 0; next < n; next++) {
        if (next == n_listed) { /* of the next component */
            int64_t lowest = find_lowest(&sweep, left, degree);
            sequence[n_listed++] = find_far_end(&sweep, lowest, degree);
            drop_bit(left, sequence[next]);
        }
        n_listed += append_neighbours(&sweep, sequence[next], degree, sequence + n_listed);
    }
}
