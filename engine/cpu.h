/* Which of the builds of this library the processor can run. */
#ifndef ENGINE_CPU_H
#define ENGINE_CPU_H

#include "engine.h"

/* Return the level of the processor: 0 for the baseline of its family; 3 for x86-64-v3 (AVX2, BMI,
 * FMA); 4 for x86-64-v4 (AVX-512) with population counts of whole vectors. */
ENGINE_API int64_t find_cpu_level(void);

/* Return the hash of the sources that this library was built from, as text. */
ENGINE_API const char *get_source_hash(void);

#endif
