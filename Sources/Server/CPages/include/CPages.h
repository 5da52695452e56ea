#ifndef CPAGES_H
#define CPAGES_H

#include <stddef.h>

/// A file that is compiled in. All of it is immutable and there for as long as the process is.
struct page_file {
    /// Its name in the addresses of its set; of rules, the database that they are for.
    const char *name;
    const char *content_type;
    const unsigned char *bytes;
    size_t byte_count;
};

/// Files that belong together.
struct page_set {
    const struct page_file *files;
    size_t count;
};

/// The pages of the sample services.
extern const struct page_set sample_pages;

/// The console.
extern const struct page_set console_pages;

/// A file of its own that draws the coverage of rules, up to the JSON that it draws.
extern const struct page_file coverage_page;

/// The rules of the sample services, and those of their files (`NAME.storage`).
extern const struct page_set sample_rules;

#endif
