// Calls of the system on files that Swift's overlay leaves out.
#ifndef HEARTH_CFILES_H
#define HEARTH_CFILES_H

#include <stddef.h>
#include <stdint.h>

/// Reads what the system has in memory of a file, from `offset` on, without waiting for a disk. Returns the number of bytes,
/// 0 at the end of the file, and -1 when it would have to wait, when the file system cannot say, or on an error.
ptrdiff_t hearth_read_cached(int descriptor, void *bytes, size_t byte_count, int64_t offset);

/// Has the system begin to write bytes of a file to the disk, and waits for none of them. What fails is reported by the next
/// sync; where the system does not know the call, nothing happens.
void hearth_begin_writing(int descriptor, int64_t offset, int64_t byte_count);

#endif
