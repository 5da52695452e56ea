#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // preadv2, sync_file_range
#endif

#include "CFiles.h"

#include <fcntl.h>
#include <sys/uio.h>

ptrdiff_t hearth_read_cached(int descriptor, void *bytes, size_t byte_count, int64_t offset) {
    struct iovec part = {.iov_base = bytes, .iov_len = byte_count};
    return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
}

void hearth_begin_writing(int descriptor, int64_t offset, int64_t byte_count) {
    sync_file_range(descriptor, offset, byte_count, SYNC_FILE_RANGE_WRITE);
}
