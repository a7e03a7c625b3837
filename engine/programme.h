/* The literal form: decode orders and masks, and measure the solutions.
 *
 * One kernel serves tours and orderings, because both decode a mask in the same way: its bits act
 * row by row on the order.
 */
#ifndef ENGINE_PROGRAMME_H
#define ENGINE_PROGRAMME_H

#include "decode.h"
#include "engine.h"

/* Overwrite values[s] with the value of solution s, a length or a weight.
 *
 * Bit (i, j) of a mask reverses the positions i + 1 to j of a tour, and moves the item at position
 * i of an ordering to position j. `matrix` holds the distances or the weights. `order` is scratch.
 */
ENGINE_API void measure_programmes(
    int64_t is_tour, const double *matrix, int64_t n_matrix, int64_t matrix_width,
    const Solutions *solutions, int64_t *order, int64_t n_order, double *values, int64_t n_values
);

#endif
