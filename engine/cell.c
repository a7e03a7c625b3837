#include "cell.h"

/* Append the digit of a member to the cell of each row. This is a function of its own because gcc
 * would join two members to one pass over the rows, which then has no vectors. */
__attribute__((noinline)) static void
add_digit(const int32_t *restrict codes, int32_t arity, int64_t n_rows, int32_t *restrict cells) {
    for (int64_t row = 0; row < n_rows; row++) cells[row] = cells[row] * arity + codes[row];
}

/* Overwrite cells[row] with the cell of each row: a number with one digit for each member. */
static void find_cells(const CellRows *rows, const int32_t *family, int64_t size, int32_t *cells) {
    int64_t n_rows = rows->codes_width;
    memset(cells, 0, (size_t) n_rows * sizeof *cells);
    for (int64_t m = 0; m < size; m++) {
        CHECK(0 <= family[m] && family[m] < rows->n_codes);
        int32_t arity = (int32_t) rows->arities[family[m]];
        add_digit(rows->codes + family[m] * n_rows, arity, n_rows, cells);
    }
}

void sum_cells(
    const CellRows *rows, const int32_t *families, int64_t n_families, int64_t families_width,
    const double *value, int64_t n_value, int32_t *cells, int64_t n_cells, int32_t *counts,
    int64_t n_counts, double *sums, int64_t n_sums
) {
    int64_t n_rows = rows->codes_width;
    const int64_t *weights = rows->weights;
    CHECK(rows->n_weights == n_rows && rows->n_arities == rows->n_codes);
    CHECK(n_cells >= n_rows && n_sums == n_families);
    CHECK(n_counts <= INT32_MAX && n_value <= INT32_MAX); /* numbers of cells, and of rows */
    for (int64_t f = 0; f < n_families; f++) {
        find_cells(rows, families + f * families_width, families_width, cells);
        for (int64_t row = 0; row < n_rows; row++) {
            CHECK(0 <= cells[row] && cells[row] < n_counts);
            counts[cells[row]] += (int32_t) weights[row];
        }
        double total = 0.0;
        for (int64_t row = 0; row < n_rows; row++) {
            int32_t *count = counts + cells[row];
            CHECK(0 <= *count && *count < n_value);
            total += value[*count]; /* 0 but for the first row of the cell */
            *count = 0;
        }
        sums[f] = total;
    }
}
