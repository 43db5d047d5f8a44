/* SPDX-License-Identifier: Apache-2.0 */
/* SQL that only reads, and the structure of a database. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/query.h"
#include "read/sqlite_open.h"

enum {
	VALUE_BYTES = 2000,   /* of one text in a row */
	COLUMN_BYTES = 100,   /* of a column's name */
	ROWS_FURTHER = 10000, /* that are counted past those asked for */
	TABLES_MAX = 200,
	COLUMNS_MAX = 100,
};

struct sql_run {
	struct sqlite_open open;
	struct derive_result *ret;
	uint64_t first, last, count, given;
	size_t max_bytes, cut;
	bool full, enough;
	json_t *notes;
};

static void sql_note(struct sql_run *run, const char *text)
{
	json_array_append_new(run->notes, json_cstr(text));
}

/* ---- rows ------------------------------------------------------------------------------ */

static void sql_put_columns(struct sql_run *run, sqlite3_stmt *statement)
{
	const struct sqlite_library *lib = run->open.lib;
	json_t *names = json_array();

	for (int i = 0; i < lib->sqlite3_column_count(statement) && i < COLUMNS_MAX; i++)
		json_array_append_new(
			names, json_text(utf8_head(span_str(lib->sqlite3_column_name(statement, i)),
		                                   COLUMN_BYTES)));
	json_object_set_new(run->ret->facts, "columns", names);
}

static void sql_put_row(struct sql_run *run, sqlite3_stmt *statement)
{
	const int columns = run->open.lib->sqlite3_column_count(statement);
	_cleanup_buf_ struct buf row = BUF_INIT(run->max_bytes);

	buf_char(&row, '[');
	for (int i = 0; i < columns && !row.overflowed; i++) {
		buf_str(&row, i ? "," : "");
		sqlite_open_put_value(&run->open, statement, i, VALUE_BYTES, &row, &run->cut);
	}
	buf_str(&row, "]\n");
	if (row.overflowed || run->ret->text.len + row.len > run->max_bytes) {
		run->full = true;
		return;
	}
	buf_span(&run->ret->text, buf_view(&row));
	run->given++;
}

static void sql_take_row(struct sql_run *run, sqlite3_stmt *statement)
{
	run->count++;
	if (run->count >= run->first && run->count <= run->last && !run->full)
		sql_put_row(run, statement);
	else
		run->enough = (run->full || run->count > run->last) &&
		              run->count >= run->first + run->given + ROWS_FURTHER;
}

static void put_sql_facts(struct sql_run *run)
{
	struct derive_result *ret = run->ret;
	const uint64_t next = run->first + run->given;

	format_fact_count(ret, "results", run->given);
	if (!run->enough)
		format_fact_count(ret, "total", run->count);
	if (run->cut)
		sql_note(run, "Long texts are shortened: select a part of them with substr.");
	if (run->full && !run->given)
		sql_note(run, "The row is too long for one answer: select fewer columns.");
	if (run->enough || run->count >= next) {
		ret->truncated = true;
		snprintf(ret->next, sizeof(ret->next), "%" PRIu64, run->given ? next : next + 1);
	}
}

static bool run_sql(struct sql_run *run, const char *sql, struct err *err)
{
	const struct sqlite_library *lib = run->open.lib;
	sqlite3_stmt *statement = NULL;
	int step = SQLITE_DONE;
	bool ok;

	if (!sqlite_open_prepare(&run->open, sql, &statement, err))
		return false;
	sql_put_columns(run, statement);
	while (!run->enough && (step = lib->sqlite3_step(statement)) == SQLITE_ROW)
		sql_take_row(run, statement);
	ok = run->enough || step == SQLITE_DONE || run->count;
	if (!run->enough && step != SQLITE_DONE) {
		_cleanup_free_ char *why =
			mem_printf("The statement ended with an error after %" PRIu64 " rows: %s",
		                   run->count, lib->sqlite3_errmsg(run->open.db));

		sql_note(run, why);
		if (!ok)
			err_set(err, ERR_INVALID_ARGUMENT, "The statement fails: %s.",
			        lib->sqlite3_errmsg(run->open.db));
	}
	lib->sqlite3_finalize(statement);
	if (ok)
		put_sql_facts(run);
	return ok;
}

/* ---- structure --------------------------------------------------------------------------- */

/* The value of a statement with one row and one column, with `name` for its parameter; -1: it
 * fails. */
static long long count_of(struct sql_run *run, const char *sql)
{
	const struct sqlite_library *lib = run->open.lib;
	struct err err = ERR_INIT;
	sqlite3_stmt *statement = NULL;
	long long value = -1;

	if (!sqlite_open_prepare(&run->open, sql, &statement, &err))
		return -1;
	if (lib->sqlite3_step(statement) == SQLITE_ROW)
		value = lib->sqlite3_column_int64(statement, 0);
	lib->sqlite3_finalize(statement);
	return value;
}

/* A name as SQL has it, in quotation marks. */
static void sql_put_name(struct buf *out, const char *name)
{
	buf_char(out, '"');
	for (; *name; name++)
		buf_printf(out, *name == '"' ? "\"\"" : "%c", *name);
	buf_char(out, '"');
}

/* Columns as "id INTEGER, name TEXT", of a view, too. */
static void put_table_columns(struct sql_run *run, const char *name, struct buf *line)
{
	const struct sqlite_library *lib = run->open.lib;
	static const char sql[] = "SELECT name, type, pk FROM pragma_table_info(?1)";
	struct err err = ERR_INIT;
	sqlite3_stmt *statement = NULL;

	if (!sqlite_open_prepare(&run->open, sql, &statement, &err))
		return;
	lib->sqlite3_bind_text(statement, 1, name, -1, NULL);
	for (int i = 0; i < COLUMNS_MAX && lib->sqlite3_step(statement) == SQLITE_ROW; i++) {
		const char *type = (const char *)lib->sqlite3_column_text(statement, 1);

		buf_printf(line, "%s%.*s%s%.*s%s", i ? ", " : "", COLUMN_BYTES,
		           lib->sqlite3_column_text(statement, 0), type && *type ? " " : "",
		           COLUMN_BYTES, type ? type : "",
		           lib->sqlite3_column_int64(statement, 2) ? " KEY" : "");
	}
	lib->sqlite3_finalize(statement);
}

/* "users: table of 12 rows (id INTEGER KEY, name TEXT)" */
static void sql_put_table(struct sql_run *run, const char *name, const char *type, struct buf *line)
{
	_cleanup_buf_ struct buf sql = BUF_INIT(4096);
	long long rows;

	buf_printf(line, "%.*s: %s", COLUMN_BYTES, name, type);
	if (strcmp(type, "table") == 0) {
		buf_str(&sql, "SELECT count(*) FROM ");
		sql_put_name(&sql, name);
		rows = sql.overflowed ? -1 : count_of(run, sql.data);
		if (rows >= 0)
			buf_printf(line, " of %lld row%s", rows, rows == 1 ? "" : "s");
		else
			buf_str(line, " that cannot be read");
	}
	buf_str(line, " (");
	put_table_columns(run, name, line);
	buf_str(line, ")\n");
}

static bool sql_structure(struct sql_run *run, struct err *err)
{
	static const char sql[] =
		"SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
		"AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, rowid";
	const struct sqlite_library *lib = run->open.lib;
	sqlite3_stmt *statement = NULL;
	uint64_t tables = 0;

	if (!sqlite_open_prepare(&run->open, sql, &statement, err))
		return false;
	while (lib->sqlite3_step(statement) == SQLITE_ROW) {
		_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);
		const char *name = (const char *)lib->sqlite3_column_text(statement, 0),
			   *type = (const char *)lib->sqlite3_column_text(statement, 1);

		if (tables++ >= TABLES_MAX || run->full || !name || !type)
			continue;
		sql_put_table(run, name, type, &line);
		run->full = run->ret->text.len + line.len > run->max_bytes;
		if (!run->full)
			run->given++;
		buf_span(&run->ret->text, run->full ? span_of("", 0) : buf_view(&line));
	}
	lib->sqlite3_finalize(statement);
	run->ret->truncated = tables > run->given;
	format_fact_count(run->ret, "total", tables);
	return true;
}

bool query_sql(const struct format_input *input, const struct derive_request *request,
               struct derive_result *ret, struct err *err)
{
	struct sql_run *run = mem_alloc(1, sizeof(*run));
	bool ok;

	*run = (struct sql_run){ .ret = ret,
		                 .notes = json_array(),
		                 .max_bytes = request->max_bytes ? request->max_bytes
		                                                 : LIMIT_DERIVE_TEXT };
	ok = query_range(request->range, &run->first, &run->last, err);
	if (ok && request->query)
		ok = err_set(
			err, ERR_INVALID_ARGUMENT,
			"It is an SQLite database: use sql (SELECT ...), not a jq expression.");
	ok = ok && sqlite_open_input(input, &run->open, err);
	if (ok) {
		format_library(ret, "sqlite %s", run->open.lib->sqlite3_libversion());
		ok = request->sql ? run_sql(run, request->sql, err) : sql_structure(run, err);
		if (run->open.wal)
			sql_note(
				run,
				"The database uses a write-ahead log: changes that are only in its "
				"-wal file are not seen.");
		sqlite_open_close(&run->open);
	}
	if (ok && json_array_size(run->notes))
		json_object_set(ret->facts, "notes", run->notes);
	json_decref(run->notes);
	free(run);
	return ok;
}
