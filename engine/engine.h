/* What every file of the engine shares.
 *
 * The engine is one C11 library without dependencies but libm. Python calls it through ctypes
 * (src/coevo/engine.py), which releases the interpreter lock. Its rules:
 *
 * - A function that Python calls is declared with ENGINE_API in the header of its topic. A test
 *   compares each declaration with the one in Python.
 * - An array is passed as its address and its lengths, one for each axis, slowest first. All
 *   arrays are contiguous. Python has checked types, axes, contiguity and writability.
 * - A structure that travels is declared in a header and, with the same fields, in Python.
 * - Nothing is allocated that the caller does not see, and nothing is kept between two calls.
 * - Nothing draws random numbers: draws come in arrays.
 * - Nothing is range-checked, but for CHECK, which only the checked build evaluates.
 * - Sums are added in one fixed order, and floats are strict (-ffp-contract=off, no fast-math), so
 *   that every build for every processor gives the same bits.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define ENGINE_API __declspec(dllexport)
#else
#define ENGINE_API __attribute__((visibility("default")))
#endif

/* A contract with the caller. `make sanitize` builds a library that aborts if it is broken. */
#ifdef ENGINE_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define CHECK(condition)                                                                           \
    ((condition) ? (void) 0                                                                        \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define CHECK(condition) ((void) (0 && (condition))) /* not evaluated, but used */
#endif

/* A small function that must disappear into the loops that call it. */
#define INLINE static inline __attribute__((always_inline))

#endif
