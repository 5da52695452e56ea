#ifndef CSAMPLEPAGES_H
#define CSAMPLEPAGES_H

#include <stddef.h>

/// A file that is compiled in. All of it is immutable and there for as long as the process is.
struct sample_file {
    /// What stands behind `/.samples/` in the address, or the name of a rules file.
    const char *name;
    const char *content_type;
    const unsigned char *bytes;
    size_t byte_count;
};

/// How many pages, scripts and styles there are.
extern const size_t sample_page_count;

/// One of them; `index` is below `sample_page_count`.
struct sample_file sample_page(size_t index);

/// How many rules files there are.
extern const size_t sample_rules_count;

/// One of them, named by the database that it is for; `index` is below `sample_rules_count`.
struct sample_file sample_rules(size_t index);

#endif
