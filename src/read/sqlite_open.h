/* SPDX-License-Identifier: Apache-2.0 */
/* An SQLite database opened so that nothing can happen but reading: from the one descriptor of the
 * input, by statements that only read.
 *
 *     struct sqlite_open db;
 *
 *     if (!sqlite_open_input(input, &db, err))
 *             return false;
 *     if (!sqlite_open_prepare(&db, "SELECT name FROM sqlite_schema", &statement, err)) ...
 *     while (db.lib->sqlite3_step(statement) == SQLITE_ROW) ...
 *     db.lib->sqlite3_finalize(statement);
 *     sqlite_open_close(&db);
 *
 * A file system of our own gives SQLite the descriptor's bytes, as those of a file that never
 * changes, and has no other file: no journal, no write-ahead log, no temporary files (those are in
 * memory).  The schema is not trusted; an authorizer refuses all but SELECT and functions without
 * side effects.  A log that stands next to the database (NAME-wal) is not read: `wal` says that the
 * database is of the kind that may have one.
 */
#ifndef HASP_READ_SQLITE_OPEN_H
#define HASP_READ_SQLITE_OPEN_H

#include <sqlite3.h>

#include "read/format.h"

#define SQLITE_FUNCTIONS(X) \
	X(sqlite3_libversion) X(sqlite3_vfs_register) X(sqlite3_vfs_unregister) \
	X(sqlite3_open_v2) X(sqlite3_close_v2) \
	X(sqlite3_db_config) X(sqlite3_exec) X(sqlite3_limit) X(sqlite3_set_authorizer) \
	X(sqlite3_prepare_v2) X(sqlite3_step) X(sqlite3_finalize) X(sqlite3_errmsg) \
	X(sqlite3_error_offset) X(sqlite3_column_count) X(sqlite3_column_name) \
	X(sqlite3_column_type) X(sqlite3_column_int64) X(sqlite3_column_double) \
	X(sqlite3_column_text) X(sqlite3_column_blob) X(sqlite3_column_bytes) \
	X(sqlite3_stmt_readonly) X(sqlite3_bind_text) X(sqlite3_soft_heap_limit64)

/* Its functions under their own names. */
struct sqlite_library {
#define SQLITE_MEMBER(name) __typeof__(name) *name;
	/* One for each function. */
	SQLITE_FUNCTIONS(SQLITE_MEMBER)
#undef SQLITE_MEMBER
};

/* Loads it, the first time. */
bool sqlite_open_load(struct err *err);

struct sqlite_open {
	const struct sqlite_library *lib;
	sqlite3 *db;
	bool wal;           /* changes may be in NAME-wal, which is not read */
	char refused[128];  /* what the authorizer refused last: "ATTACH"; "" nothing */
	/* private */
	const struct format_input *input;
	sqlite3_vfs vfs;
};

/* NOT_TEXT: it is damaged, encrypted or no database. *ret must stay where it is until
 * sqlite_open_close, which is needed after success alone. */
bool sqlite_open_input(const struct format_input *input, struct sqlite_open *ret, struct err *err);
void sqlite_open_close(struct sqlite_open *open);

/* The first statement of `sql`, which must be the only one.  INVALID_ARGUMENT with SQLite's
 * sentence, and with what is not allowed. */
bool sqlite_open_prepare(struct sqlite_open *open, const char *sql, sqlite3_stmt **ret,
                    struct err *err);

/* Appends the value of a column of the current row as JSON: a blob is {"blob": bytes, "hex": its
 * beginning}, a text longer than `max` bytes is shortened, which *cut (may be NULL) counts. */
void sqlite_open_put_value(const struct sqlite_open *open, sqlite3_stmt *statement, int column,
                      size_t max, struct buf *out, size_t *cut);

#endif
