/* Durations, and what a server's process takes. */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void add_sample(samples *samples, uint64_t nanoseconds) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? samples->capacity * 2 : 1 << 10;
        samples->values = realloc(samples->values, samples->capacity * sizeof *samples->values);
        if (!samples->values) die("memory");
    }
    uint64_t tenths = nanoseconds / 100;
    samples->values[samples->count++] = tenths > UINT32_MAX ? UINT32_MAX : (uint32_t)tenths;
}

static int ascending(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

double sample_us(samples *samples, double share) {
    if (samples->count == 0) return 0;
    qsort(samples->values, samples->count, sizeof *samples->values, ascending);
    size_t index = (size_t)(share * (double)samples->count);
    if (index >= samples->count) index = samples->count - 1;
    return samples->values[index] / 10.0;
}

double processor_seconds(int pid) {
    clockid_t clock;
    struct timespec time;
    if (pid == 0) return 0;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        die("--pid is no process");
    }
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double resident_bytes(int pid) {
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) die("--pid is no process");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}
