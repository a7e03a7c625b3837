#include "cycle.h"

enum { NONE = -1 };

/* Overwrite place[v] with the position of v; return whether it is a permutation. */
static bool find_places(const int64_t *permutation, int64_t n, int64_t *place) {
    for (int64_t v = 0; v < n; v++) place[v] = NONE;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = permutation[i];
        if (v < 0 || v >= n || place[v] != NONE) return false;
        place[v] = i;
    }
    return true;
}

/* Overwrite the number of the cycle of each position; return whether `second` is a permutation. */
static bool number_pair(const int64_t *second, int64_t n, const int64_t *place, int64_t *number) {
    int64_t n_cycles = 0;
    for (int64_t i = 0; i < n; i++) number[i] = NONE;
    for (int64_t i = 0; i < n; i++) {
        if (number[i] != NONE) continue;
        int64_t at = i;
        for (; number[at] == NONE; at = place[second[at]]) {
            if (second[at] < 0 || second[at] >= n) return false;
            number[at] = n_cycles;
        }
        if (at != i) return false; /* two positions hold the same */
        n_cycles++;
    }
    return true;
}

int64_t number_pairs(
    const int64_t *first, int64_t n_first, int64_t first_width, const int64_t *second,
    int64_t n_second, int64_t second_width, int64_t *place, int64_t n_place, int64_t *numbers,
    int64_t n_numbers, int64_t numbers_width
) {
    int64_t n = first_width;
    CHECK(n_second == n_first && second_width == n && n_place == n);
    CHECK(n_numbers == n_first && numbers_width == n);
    for (int64_t at = 0; at < n_first * n; at += n) {
        if (!find_places(first + at, n, place)) return false;
        if (!number_pair(second + at, n, place, numbers + at)) return false;
    }
    return true;
}
