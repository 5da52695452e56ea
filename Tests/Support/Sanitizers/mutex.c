// Locks that the thread sanitizer can see: linked into the programs that scripts/sanitize builds, nowhere else.
//
// Where no thread waits, Swift's Mutex is one atomic exchange in our own code, which the sanitizer follows. Where one
// does, the standard library asks the kernel, and the sanitizer follows neither: it would report each lock that was
// waited for. Here a thread that waits tries again until the exchange succeeds, so that none ever has to be woken.
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

// `Synchronization._MutexHandle._lockSlow(_: UInt32)`, by its name in the library; the word is 0 or the owner's thread.
__attribute__((swiftcall)) void hearth_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void hearth_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word) {
    if (atomic_load(word) == thread) abort();  // The same thread has it already.
    uint32_t free_word = 0;
    while (!atomic_compare_exchange_weak(word, &free_word, thread)) {
        free_word = 0;
        sched_yield();
    }
}
