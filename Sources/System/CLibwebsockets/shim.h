#ifndef HEARTH_CLIBWEBSOCKETS_H
#define HEARTH_CLIBWEBSOCKETS_H
#include <libwebsockets.h>
#endif
