#ifndef HEARTH_CPNG_H
#define HEARTH_CPNG_H
#include <png.h>
#endif
