/*
 * fsync_lat: what the disk itself allows, the ceiling of every durable figure.
 *
 *     fsync_lat DIRECTORY SECONDS BYTES BATCH [preallocated]
 *
 * One thread writes BYTES * BATCH bytes and calls fdatasync, over and over. Prints one line of JSON.
 * The file grows, as redis' does, or has its blocks already, as a segment of Hearth's log has; then a
 * sync need not change the file system's own records, which costs many times as much.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SYNCS_MAX = 1000000, FILE_SIZE = 64 << 20 };

static double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Gives a file blocks that hold zeros already. */
static int preallocate(int file) {
    static char zeros[1 << 20];
    for (off_t offset = 0; offset < FILE_SIZE; offset += (off_t)sizeof zeros) {
        if (pwrite(file, zeros, sizeof zeros, offset) != (ssize_t)sizeof zeros) return -1;
    }
    return fsync(file);
}

/* Writes and syncs until the time is over; returns how many syncs that were, or -1. */
static long run(int file, const char *bytes, size_t count, double seconds, double *took) {
    double start = now_seconds(), now = start;
    long syncs = 0;
    while (now - start < seconds && syncs < SYNCS_MAX) {
        if (lseek(file, 0, SEEK_CUR) + (off_t)count > FILE_SIZE) lseek(file, 0, SEEK_SET);
        double before = now_seconds();
        if (write(file, bytes, count) != (ssize_t)count || fdatasync(file) != 0) return -1;
        now = now_seconds();
        took[syncs++] = now - before;
    }
    return syncs;
}

int main(int argc, char **argv) {
    int is_preallocated = argc == 6 && strcmp(argv[5], "preallocated") == 0;
    if (argc != 5 && !is_preallocated) {
        fprintf(stderr, "usage: fsync_lat DIRECTORY SECONDS BYTES BATCH [preallocated]\n");
        return 2;
    }
    double seconds = atof(argv[2]);
    int bytes = atoi(argv[3]), batch = atoi(argv[4]);
    if (seconds <= 0 || bytes < 1 || batch < 1) {
        fprintf(stderr, "fsync_lat: SECONDS, BYTES and BATCH must be positive\n");
        return 2;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/fsync.%d", argv[1], getpid());
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        perror(path);
        return 1;
    }
    size_t count = (size_t)bytes * (size_t)batch;
    char *buffer = malloc(count);
    double *took = malloc(sizeof *took * SYNCS_MAX);
    if (!buffer || !took) return 1;
    memset(buffer, 'x', count);

    if (is_preallocated && preallocate(file) != 0) {
        perror(path);
        unlink(path);
        return 1;
    }
    double start = now_seconds();
    long syncs = run(file, buffer, count, seconds, took);
    double elapsed = now_seconds() - start;
    unlink(path);
    if (syncs < 1) {
        perror("fsync_lat");
        return 1;
    }
    qsort(took, (size_t)syncs, sizeof *took, ascending);
    printf("{\"mode\":\"fsync\",\"bytes\":%d,\"batch\":%d,\"syncs_per_s\":%.0f,\"records_per_s\":%.0f,"
           "\"p50_us\":%.0f,\"p99_us\":%.0f}\n",
           bytes, batch, (double)syncs / elapsed, (double)(syncs * batch) / elapsed,
           took[syncs / 2] * 1e6, took[syncs * 99 / 100] * 1e6);
    return 0;
}
