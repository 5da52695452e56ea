"""A disk of a server under test that is full, or whose calls are interrupted: a library laid over the system's."""

import os
import shutil
import subprocess

# Calls on files whose path holds $SHAKY_FOLDER: with $SHAKY_INTERRUPTS every second one fails with EINTR; the
# free space is what the file $SHAKY_FREE says, in MiB, and behind it the size of the disk if that matters.
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

static atomic_uint calls;

static int concerns(const char *path) {
    const char *folder = getenv("SHAKY_FOLDER");
    return folder && path && strstr(path, folder) != NULL;
}

static int interrupts_path(const char *path) {
    if (!getenv("SHAKY_INTERRUPTS") || !concerns(path)) return 0;
    if (atomic_fetch_add(&calls, 1) % 2) return 0;
    errno = EINTR;
    return 1;
}

static int interrupts(int descriptor) {
    if (!getenv("SHAKY_INTERRUPTS")) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    return interrupts_path(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                             \
    int name(const char *path, int flags, ...) {               \
        va_list list;                                          \
        va_start(list, flags);                                 \
        int mode = va_arg(list, int);                          \
        va_end(list);                                          \
        if (interrupts_path(path)) return -1;                  \
        return REAL(name)(path, flags, mode);                  \
    }
#define MOVE(name, pointer)                                    \
    ssize_t name(int file, pointer bytes, size_t count) {      \
        if (interrupts(file)) return -1;                       \
        return REAL(name)(file, bytes, count);                 \
    }
#define MOVE_AT(name, pointer, offset)                         \
    ssize_t name(int file, pointer bytes, size_t count, offset at) { \
        if (interrupts(file)) return -1;                       \
        return REAL(name)(file, bytes, count, at);             \
    }
#define ON_FILE(name)                                          \
    int name(int file) {                                       \
        if (interrupts(file)) return -1;                       \
        return REAL(name)(file);                               \
    }

OPEN(open)
OPEN(open64)
MOVE(read, void *)
MOVE(write, const void *)
MOVE_AT(pread, void *, off_t)
MOVE_AT(pread64, void *, off64_t)
MOVE_AT(pwrite, const void *, off_t)
MOVE_AT(pwrite64, const void *, off64_t)
ON_FILE(fsync)
ON_FILE(fdatasync)

int ftruncate(int file, off_t count) {
    if (interrupts(file)) return -1;
    return REAL(ftruncate)(file, count);
}

int flock(int file, int operation) {
    if (interrupts(file)) return -1;
    return REAL(flock)(file, operation);
}

int posix_fallocate(int file, off_t start, off_t count) {
    if (interrupts(file)) return EINTR;
    return REAL(posix_fallocate)(file, start, count);
}

int statvfs(const char *path, struct statvfs *found) {
    int result = REAL(statvfs)(path, found);
    const char *name = getenv("SHAKY_FREE");
    if (result != 0 || !name || !concerns(path)) return result;
    FILE *file = fopen(name, "r");
    unsigned long long free_mib = 0, disk_mib = 0;
    int count = file ? fscanf(file, "%llu %llu", &free_mib, &disk_mib) : 0;
    if (count > 0) {
        found->f_frsize = 1024;
        found->f_bavail = free_mib * 1024;
    }
    if (count > 1) found->f_blocks = disk_mib * 1024;
    if (file) fclose(file);
    return result;
}
"""


def library(folder):
    """Builds the library in a folder; its path."""
    source, made = folder / "shaky_disk.c", folder / "shaky_disk.so"
    source.write_text(SOURCE)
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return str(made)


class ShakyDisk:
    """Lays the library over the servers that are started meanwhile, for files below `data`."""

    def __init__(self, tmp_path, data, interrupts=False):
        self.free = tmp_path / "free-mib"
        self.set_free(100_000)
        self.variables = {
            "LD_PRELOAD": library(tmp_path),
            "SHAKY_FOLDER": str(data),
            "SHAKY_FREE": str(self.free),
            **({"SHAKY_INTERRUPTS": "1"} if interrupts else {}),
        }

    def set_free(self, mib, of=None):
        draft = self.free.with_suffix(".draft")
        draft.write_text(f"{mib} {of or ''}")
        draft.rename(self.free)

    def __enter__(self):
        os.environ.update(self.variables)
        return self

    def __exit__(self, *_):
        for name in self.variables:
            del os.environ[name]
