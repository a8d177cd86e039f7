#pragma once
// One version of a function for each generation of processors, chosen when the program starts. Sanitizers run too early for that.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HINGE_FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
// For products of 64-bit integers.
#define HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define HINGE_FOR_EACH_PROCESSOR
#define HINGE_FOR_EACH_PROCESSOR_OF_WIDE_INTEGERS
#endif

namespace hinge {

/// Within a loop that waits for another thread: leaves the core to its neighbour for a moment.
inline void spin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace hinge
