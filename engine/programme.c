#include "programme.h"

#include "ordering.h"
#include "tour.h"

/* Reverse the positions from `low` to `high`. */
static void reverse(int64_t *order, int64_t low, int64_t high) {
    for (; low < high; low++, high--) {
        int64_t item = order[low];
        order[low] = order[high];
        order[high] = item;
    }
}

void measure_programmes(
    int64_t is_tour, const double *matrix, int64_t n_matrix, int64_t matrix_width,
    const Solutions *solutions, int64_t *order, int64_t n_order, double *values, int64_t n_values
) {
    int64_t n = solutions->orders_width;
    check_solutions(solutions);
    CHECK(n_matrix == n && matrix_width == n && n_order == n);
    CHECK(n_values == solutions->n_order_of && (n > 0 || n_values == 0));
    for (int64_t s = 0; s < n_values; s++) {
        memcpy(order, solutions->orders + solutions->order_of[s] * n, (size_t) n * sizeof *order);
        PairReader reader = start_reader(solutions, s);
        while (read_pair(&reader)) {
            if (is_tour) {
                reverse(order, reader.upper + 1, reader.lower);
            } else {
                move_item(order, reader.upper, reader.lower);
            }
        }
        values[s] = is_tour ? measure_tour(matrix, order, n) : weigh_ordering(matrix, order, n);
    }
}
