#ifndef HEARTH_CNATS_H
#define HEARTH_CNATS_H
#include <nats/nats.h>
#endif
