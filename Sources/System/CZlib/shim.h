#ifndef HEARTH_CZLIB_H
#define HEARTH_CZLIB_H
#include <zlib.h>

// zlib starts through macros, which Swift cannot see. 16 more window bits select gzip instead of zlib's own format.

static inline int hearth_inflate_init(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 16);
}

static inline int hearth_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
#endif
