#ifndef HEARTH_CSQLITE_H
#define HEARTH_CSQLITE_H
#include <sqlite3.h>

/// SQLITE_TRANSIENT, a macro that Swift cannot see: SQLite copies the bound value.
static inline sqlite3_destructor_type hearth_sqlite_transient(void) { return SQLITE_TRANSIENT; }
#endif
