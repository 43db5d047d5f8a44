/* SPDX-License-Identifier: Apache-2.0 */
/* A file system for SQLite that has one file, which cannot be written; and what a statement may
 * do. */
#include "read/sqlite_open.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum { STEPS_BETWEEN = 10000 }; /* of the virtual machine, between looks at the clock */

#define ROW(name) { #name, offsetof(struct sqlite_library, name) },
static const struct library_symbol sqlite_symbols[] = { SQLITE_FUNCTIONS(ROW) };
#undef ROW

static const struct library sqlite_row = { { "libsqlite3.so.0" },
	                                   "An SQLite database needs",
	                                   "libsqlite3-0",
	                                   sqlite_symbols,
	                                   ARRAY_LEN(sqlite_symbols) };

static pthread_once_t sqlite_once = PTHREAD_ONCE_INIT;
static struct sqlite_library sqlite_loaded;
static struct err sqlite_absent;

static void load_sqlite(void)
{
	library_load(&sqlite_row, &sqlite_loaded, &sqlite_absent);
}

bool sqlite_open_load(struct err *err)
{
	pthread_once(&sqlite_once, load_sqlite);
	if (sqlite_absent.code == ERR_NONE)
		return true;
	*err = sqlite_absent;
	return false;
}

/* ---- the file -------------------------------------------------------------------------- */

struct sqlite_input {
	sqlite3_file base; /* first */
	const struct format_input *input;
};

static int input_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int sqlite_input_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	const struct format_input *input = ((struct sqlite_input *)file)->input;
	const size_t all = len > 0 ? (size_t)len : 0;
	size_t done = 0;

	while (done < all) {
		const ssize_t got =
			pread(input->fd, (char *)data + done, all - done, (off_t)at + (off_t)done);

		if (got < 0)
			return SQLITE_IOERR_READ;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	memset((char *)data + done, 0, all - done);
	return done < all ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int input_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	(void)file, (void)data, (void)len, (void)at;
	return SQLITE_READONLY;
}

static int input_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file, (void)size;
	return SQLITE_READONLY;
}

static int input_flags(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int input_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct sqlite_input *)file)->input->size;
	return SQLITE_OK;
}

static int input_reserved(sqlite3_file *file, int *ret)
{
	(void)file;
	*ret = 0;
	return SQLITE_OK;
}

static int input_control(sqlite3_file *file, int what, void *data)
{
	(void)file, (void)what, (void)data;
	return SQLITE_NOTFOUND;
}

static int input_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int input_device(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods input_methods = {
	.iVersion = 1,
	.xClose = input_close,
	.xRead = sqlite_input_read,
	.xWrite = input_write,
	.xTruncate = input_truncate,
	.xSync = input_flags,
	.xFileSize = input_size,
	.xLock = input_flags,
	.xUnlock = input_flags,
	.xCheckReservedLock = input_reserved,
	.xFileControl = input_control,
	.xSectorSize = input_sector,
	.xDeviceCharacteristics = input_device,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret)
{
	const struct sqlite_open *open = vfs->pAppData;

	(void)name;
	file->pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	((struct sqlite_input *)file)->input = open->input;
	file->pMethods = &input_methods;
	if (ret)
		*ret = SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	(void)vfs, (void)name, (void)flags;
	*ret = 0;
	return SQLITE_OK;
}

static int vfs_name(sqlite3_vfs *vfs, const char *name, int len, char *ret)
{
	(void)vfs;
	snprintf(ret, (size_t)len, "%s", name);
	return SQLITE_OK;
}

/* For names of temporary tables and random(): nothing that must be secret. */
static int vfs_random(sqlite3_vfs *vfs, int len, char *ret)
{
	(void)vfs;
	memset(ret, 7, (size_t)len);
	return len;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
	(void)vfs;
	return microseconds;
}

/* In milliseconds since noon of 24 November -4713, as SQLite counts. */
static int vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
	(void)vfs;
	*ret = 210866760000000 + (sqlite3_int64)time(NULL) * 1000;
	return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *vfs, double *ret)
{
	sqlite3_int64 now = 0;

	vfs_time64(vfs, &now);
	*ret = (double)now / 86400000.0;
	return SQLITE_OK;
}

static int vfs_error(sqlite3_vfs *vfs, int len, char *ret)
{
	(void)vfs, (void)len, (void)ret;
	return 0;
}

/* ---- what a statement may do ----------------------------------------------------------- */

/* Functions that reach out of the database, or tell of the process; all others only compute. */
static const char *const refused_functions[] = {
	"load_extension",
	"readfile",
	"writefile",
	"edit",
	"fts3_tokenizer",
	"zipfile",
	"sqlite_log",
	"sqlite_compileoption_get",
	"sqlite_compileoption_used",
	NULL,
};

/* Those that describe tables; as pragma_table_info('users') they are tables themselves. */
static const char *const allowed_pragmas[] = {
	"table_info", "table_xinfo", "table_list",       "index_list",
	"index_info", "index_xinfo", "foreign_key_list", NULL,
};

static bool sqlite_listed(const char *const *names, const char *name)
{
	for (; name && *names; names++)
		if (strcasecmp(*names, name) == 0)
			return true;
	return false;
}

static int sqlite_refuse(struct sqlite_open *open, const char *what, const char *name)
{
	snprintf(open->refused, sizeof(open->refused), "%s%s%s", what, name ? " " : "",
	         name ? name : "");
	return SQLITE_DENY;
}

static int sqlite_may(void *data, int what, const char *first, const char *second,
                      const char *database, const char *within)
{
	struct sqlite_open *open = data;

	(void)database, (void)within;
	switch (what) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite_listed(refused_functions, second)
		               ? sqlite_refuse(open, "the function", second)
		               : SQLITE_OK;
	case SQLITE_ATTACH:
		return sqlite_refuse(open, "ATTACH", NULL);
	case SQLITE_PRAGMA:
		return sqlite_listed(allowed_pragmas, first) ? SQLITE_OK
		                                             : sqlite_refuse(open, "PRAGMA", first);
	default:
		return sqlite_refuse(open, "a statement that changes something", NULL);
	}
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool open_fails(struct sqlite_open *open, struct err *err)
{
	char why[200];

	snprintf(why, sizeof(why), "%s",
	         open->db ? open->lib->sqlite3_errmsg(open->db) : "no memory");
	sqlite_open_close(open);
	return err_set(err, ERR_NOT_TEXT, "It cannot be read as an SQLite database: %s.", why);
}

/* Byte 18 of the header, the version that is needed to write: 2 is a write-ahead log. */
static bool has_log(const struct format_input *input)
{
	unsigned char byte = 0;

	return pread(input->fd, &byte, 1, 18) == 1 && byte == 2;
}

/* Such a table is made when it is used first, which the authorizer takes for a change. */
static void make_pragma_tables(struct sqlite_open *open)
{
	for (const char *const *name = allowed_pragmas; *name; name++) {
		_cleanup_free_ char *sql = mem_printf("SELECT 1 FROM pragma_%s LIMIT 0", *name);

		open->lib->sqlite3_exec(open->db, sql, NULL, NULL, NULL);
	}
}

/* Nonzero interrupts the statement. */
static int is_late(void *data)
{
	const struct sqlite_open *open = data;

	return open->deadline_ms && clock_monotonic_ms() > open->deadline_ms;
}

static void open_restrict(struct sqlite_open *open)
{
	const struct sqlite_library *lib = open->lib;

	lib->sqlite3_db_config(open->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	lib->sqlite3_db_config(open->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	lib->sqlite3_db_config(open->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	lib->sqlite3_db_config(open->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	lib->sqlite3_exec(open->db,
	                  "PRAGMA temp_store=MEMORY; PRAGMA query_only=1; "
	                  "PRAGMA cell_size_check=1; PRAGMA mmap_size=0",
	                  NULL, NULL, NULL);
	make_pragma_tables(open);
	lib->sqlite3_limit(open->db, SQLITE_LIMIT_ATTACHED, 0);
	lib->sqlite3_limit(open->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	lib->sqlite3_limit(open->db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
	lib->sqlite3_limit(open->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
	lib->sqlite3_set_authorizer(open->db, sqlite_may, open);
	lib->sqlite3_progress_handler(open->db, STEPS_BETWEEN, is_late, open);
}

bool sqlite_open_input(const struct format_input *input, struct sqlite_open *ret, struct err *err)
{
	static const sqlite3_vfs vfs = {
		.iVersion = 2,
		.szOsFile = sizeof(struct sqlite_input),
		.mxPathname = 64,
		.zName = "hasp-input",
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_name,
		.xRandomness = vfs_random,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xGetLastError = vfs_error,
		.xCurrentTimeInt64 = vfs_time64,
	};

	*ret = (struct sqlite_open){ .input = input, .wal = has_log(input), .vfs = vfs };
	if (!sqlite_open_load(err))
		return false;
	ret->lib = &sqlite_loaded;
	ret->vfs.pAppData = ret;
	if (ret->lib->sqlite3_vfs_register(&ret->vfs, 0) != SQLITE_OK)
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for SQLite.");
	if (ret->lib->sqlite3_open_v2("input", &ret->db, SQLITE_OPEN_READONLY, "hasp-input") !=
	    SQLITE_OK)
		return open_fails(ret, err);
	open_restrict(ret);
	if (ret->lib->sqlite3_exec(ret->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL,
	                           NULL) != SQLITE_OK)
		return open_fails(ret, err);
	return true;
}

void sqlite_open_close(struct sqlite_open *open)
{
	open->lib->sqlite3_close_v2(open->db);
	open->db = NULL;
	open->lib->sqlite3_vfs_unregister(&open->vfs);
}

static bool sql_fails(struct sqlite_open *open, const char *sql, struct err *err)
{
	const int at = open->lib->sqlite3_error_offset(open->db);
	const struct span near =
		utf8_head(span_str(at >= 0 && (size_t)at < strlen(sql) ? sql + at : ""), 60);

	if (open->refused[0])
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The database is only read, so %s is not allowed in sql.",
		               open->refused);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "SQLite does not accept the statement: %s%s%.*s%s.",
	               open->lib->sqlite3_errmsg(open->db), near.len ? ", at \"" : "",
	               (int)near.len, near.data, near.len ? "\"" : "");
}

bool sqlite_open_prepare(struct sqlite_open *open, const char *sql, sqlite3_stmt **ret,
                         struct err *err)
{
	const char *rest = NULL;
	sqlite3_stmt *statement = NULL, *second = NULL;

	open->refused[0] = '\0';
	if (open->lib->sqlite3_prepare_v2(open->db, sql, -1, &statement, &rest) != SQLITE_OK)
		return sql_fails(open, sql, err);
	if (!statement)
		return err_set(err, ERR_INVALID_ARGUMENT, "sql has no statement.");
	if (open->lib->sqlite3_prepare_v2(open->db, rest, -1, &second, NULL) != SQLITE_OK ||
	    second) {
		open->lib->sqlite3_finalize(second);
		open->lib->sqlite3_finalize(statement);
		return err_set(err, ERR_INVALID_ARGUMENT, "sql must be one statement.");
	}
	if (!open->lib->sqlite3_stmt_readonly(statement)) {
		open->lib->sqlite3_finalize(statement);
		return err_set(err, ERR_INVALID_ARGUMENT, "The database is only read.");
	}
	*ret = statement;
	return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void sqlite_put_text(const char *data, size_t len, size_t max, struct buf *out, size_t *cut)
{
	json_t *text = json_text(utf8_head(span_of(data, len), max));

	json_print_string(out, json_span(text));
	json_decref(text);
	if (len <= max)
		return;
	if (out->len && !out->overflowed)
		out->len--;
	buf_printf(out, "… [%zu bytes more]\"", len - max);
	if (cut)
		(*cut)++;
}

static void sqlite_put_blob(const unsigned char *data, size_t len, struct buf *out)
{
	buf_printf(out, "{\"blob\":%zu,\"hex\":\"", len);
	for (size_t i = 0; i < len && i < 32; i++)
		buf_printf(out, "%02x", data[i]);
	buf_str(out, len > 32 ? "…\"}" : "\"}");
}

static void sqlite_put_real(double value, struct buf *out)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (isfinite(value))
		buf_printf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
	else
		buf_str(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

void sqlite_open_put_value(const struct sqlite_open *open, sqlite3_stmt *statement, int column,
                           size_t max, struct buf *out, size_t *cut)
{
	const struct sqlite_library *lib = open->lib;
	const void *data;

	switch (lib->sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		buf_printf(out, "%lld", (long long)lib->sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		sqlite_put_real(lib->sqlite3_column_double(statement, column), out);
		break;
	case SQLITE_TEXT:
		data = lib->sqlite3_column_text(statement, column);
		sqlite_put_text(data ? data : "",
		                (size_t)lib->sqlite3_column_bytes(statement, column), max, out,
		                cut);
		break;
	case SQLITE_BLOB:
		data = lib->sqlite3_column_blob(statement, column);
		sqlite_put_blob(data, (size_t)lib->sqlite3_column_bytes(statement, column), out);
		break;
	default:
		buf_str(out, "null");
	}
}
