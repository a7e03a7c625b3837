#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { LEAF_BASIC = 1, LEAF_EXTENDED = 7, LEAF_AMD = (int) 0x80000001 };

/* Of leaf 1, register ecx. F16C, FMA, MOVBE and SSE4.2 are part of v3; OSXSAVE: xgetbv may run. */
#define BASIC_V3 (bit_SSE4_2 | bit_FMA | bit_MOVBE | bit_F16C | bit_AVX | bit_OSXSAVE)
/* Of leaf 7, register ebx. */
#define EXTENDED_V3 (bit_AVX2 | bit_BMI | bit_BMI2)
#define EXTENDED_V4 (bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)
/* Of the extended control register 0: the system saves the registers of AVX, and of AVX-512. */
enum { SAVES_AVX = 0x06, SAVES_AVX512 = 0xE6 };

static unsigned read_control_register(void) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_all(unsigned found, unsigned wanted) {
    return (found & wanted) == wanted;
}

int64_t find_cpu_level(void) {
    unsigned a, b, c, d, extended_b, extended_c, amd_c;
    if (!__get_cpuid(LEAF_BASIC, &a, &b, &c, &d) || !has_all(c, BASIC_V3)) return 0;
    if (!__get_cpuid_count(LEAF_EXTENDED, 0, &a, &extended_b, &extended_c, &d)) return 0;
    if (!__get_cpuid((unsigned) LEAF_AMD, &a, &b, &amd_c, &d) || !has_all(amd_c, bit_LZCNT))
        return 0;
    unsigned saved = read_control_register();
    if (!has_all(extended_b, EXTENDED_V3) || !has_all(saved, SAVES_AVX)) return 0;
    bool has_vectors = has_all(extended_b, EXTENDED_V4) && has_all(saved, SAVES_AVX512);
    return has_vectors && has_all(extended_c, bit_AVX512VPOPCNTDQ) ? 4 : 3;
}

#else

int64_t find_cpu_level(void) {
    return 0;
}

#endif

const char *get_source_hash(void) {
    return ENGINE_SOURCE_HASH;
}
