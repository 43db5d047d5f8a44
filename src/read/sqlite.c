/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite databases as text: the schema and the first rows of each table, or rows of one table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/sqlite_open.h"
#include "read/text_out.h"

enum {
	TABLES_LISTED = 1000,
	FIRST_ROWS = 5,
	TABLE_ROWS = 200,    /* when no range is given */
	VALUE_LENGTH = 300,  /* of a text in a cell, unless the range has few rows */
	VALUE_WHOLE = 16 << 10,
	FEW_ROWS = 20,
	ROW_BYTES = 256 << 10,
	SCHEMA_BYTES = 64 << 10,
	COUNT_MS = 2000,     /* for the rows of all tables */
};

/* What is in the schema. */
struct sqlite_table {
	char *name, *type, *sql;
};

struct sqlite_tables {
	struct sqlite_table *all;
	size_t count, cap;
	size_t more; /* that were left out */
};

struct sqlite_reading {
	struct sqlite_open open;
	const struct derive_request *request;
	struct derive_result *ret;
	struct text_out out;
	struct sqlite_tables tables;
	uint64_t count_until; /* clock_monotonic_ms */
};

static char *column_dup(const struct sqlite_reading *reading, sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)reading->open.lib->sqlite3_column_text(statement, column);

	return mem_strdup(text ? text : "");
}

static bool read_schema(struct sqlite_reading *reading, struct err *err)
{
	const struct sqlite_library *lib = reading->open.lib;
	struct sqlite_tables *tables = &reading->tables;
	sqlite3_stmt *statement = NULL;
	int step;

	if (!sqlite_open_prepare(&reading->open, "SELECT name, type, sql FROM sqlite_schema "
	                         "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
	                         "ESCAPE '\\' ORDER BY type, rowid", &statement, err))
		return false;
	while ((step = lib->sqlite3_step(statement)) == SQLITE_ROW) {
		if (tables->count == TABLES_LISTED) {
			tables->more++;
			continue;
		}
		tables->all = mem_grow(tables->all, &tables->cap, tables->count + 1,
		                       sizeof(*tables->all));
		tables->all[tables->count++] = (struct sqlite_table){
			.name = column_dup(reading, statement, 0),
			.type = column_dup(reading, statement, 1),
			.sql = column_dup(reading, statement, 2),
		};
	}
	if (step != SQLITE_DONE)
		err_set(err, ERR_NOT_TEXT, "It is damaged: %.200s.",
		        lib->sqlite3_errmsg(reading->open.db));
	lib->sqlite3_finalize(statement);
	return step == SQLITE_DONE;
}

/* `sql` with the table's name in quotation marks between; the caller frees. */
static char *about_table(const char *before, const char *name, const char *after)
{
	_cleanup_buf_ struct buf sql = BUF_INIT(SCHEMA_BYTES);

	buf_str(&sql, before);
	buf_char(&sql, '"');
	for (; *name; name++)
		buf_printf(&sql, *name == '"' ? "\"\"" : "%c", *name);
	buf_char(&sql, '"');
	buf_str(&sql, after);
	return sql.overflowed ? NULL : buf_steal(&sql);
}

/* -1: it cannot be counted in COUNT_MS, or is a view, whose rows may have no end. */
static long long table_row_count(struct sqlite_reading *reading, const struct sqlite_table *table)
{
	const struct sqlite_library *lib = reading->open.lib;
	_cleanup_free_ char *sql = about_table("SELECT count(*) FROM ", table->name, "");
	struct err ignored = ERR_INIT;
	sqlite3_stmt *statement = NULL;
	long long count = -1;

	if (!sql || strcmp(table->type, "table") != 0 ||
	    clock_monotonic_ms() > reading->count_until ||
	    !sqlite_open_prepare(&reading->open, sql, &statement, &ignored))
		return -1;
	reading->open.deadline_ms = reading->count_until;
	if (lib->sqlite3_step(statement) == SQLITE_ROW)
		count = lib->sqlite3_column_int64(statement, 0);
	lib->sqlite3_finalize(statement);
	reading->open.deadline_ms = 0;
	return count;
}

/* ---- rows ------------------------------------------------------------------------------ */

static void put_column_names(struct sqlite_reading *reading, sqlite3_stmt *statement)
{
	const struct sqlite_library *lib = reading->open.lib;

	text_out(&reading->out, SPAN("row"));
	for (int i = 0; i < lib->sqlite3_column_count(statement); i++) {
		const char *name = lib->sqlite3_column_name(statement, i);

		text_out_printf(&reading->out, " | %.100s", name ? name : "");
	}
	text_out(&reading->out, SPAN("\n"));
}

/* "12 | 1 | "text" | null": values as JSON has them. */
static bool put_numbered_row(struct sqlite_reading *reading, sqlite3_stmt *statement,
                          unsigned long long row, size_t longest)
{
	_cleanup_buf_ struct buf line = BUF_INIT(ROW_BYTES);
	const int columns = reading->open.lib->sqlite3_column_count(statement);

	buf_printf(&line, "%llu", row);
	for (int i = 0; i < columns && !line.overflowed; i++) {
		buf_str(&line, " | ");
		sqlite_open_put_value(&reading->open, statement, i, longest, &line, NULL);
	}
	text_out(&reading->out, buf_view(&line));
	return text_out(&reading->out, line.overflowed ? SPAN(" (cut)\n") : SPAN("\n"));
}

/* Rows of a table from `first` on, at most `count`. */
static bool put_table_rows(struct sqlite_reading *reading, const char *name,
                           unsigned long long first, unsigned long long count,
                           struct err *err)
{
	const struct sqlite_library *lib = reading->open.lib;
	_cleanup_free_ char *limits = mem_printf(" LIMIT %llu OFFSET %llu", count, first - 1);
	_cleanup_free_ char *sql = about_table("SELECT * FROM ", name, limits);
	const size_t longest = count <= FEW_ROWS && reading->request->table ? VALUE_WHOLE :
	                       VALUE_LENGTH;
	sqlite3_stmt *statement = NULL;
	unsigned long long row = first;
	int step;

	if (!sql || !sqlite_open_prepare(&reading->open, sql, &statement, err))
		return false;
	put_column_names(reading, statement);
	while ((step = lib->sqlite3_step(statement)) == SQLITE_ROW &&
	       put_numbered_row(reading, statement, row, longest))
		row++;
	if (reading->out.full && strlen(name) < 60)
		snprintf(reading->ret->next, sizeof(reading->ret->next), "table \"%s\" %llu-%llu",
		         name, row, first + count - 1);
	if (step != SQLITE_DONE && step != SQLITE_ROW)
		text_out_printf(&reading->out, "(It is damaged here: %.200s.)\n",
		                lib->sqlite3_errmsg(reading->open.db));
	lib->sqlite3_finalize(statement);
	return true;
}

/* "1-200", "7", "20-" */
static bool row_range(const char *text, unsigned long long *ret_first,
                      unsigned long long *ret_count, struct err *err)
{
	struct format_pages rows;

	*ret_first = 1;
	*ret_count = TABLE_ROWS;
	if (!text)
		return true;
	if (!format_pages(text, "row", INT64_MAX / 2, &rows, err))
		return false;
	*ret_first = rows.ranges[0].first;
	*ret_count = rows.ranges[rows.count - 1].last - rows.ranges[0].first + 1;
	return true;
}

static bool put_one_table(struct sqlite_reading *reading, struct err *err)
{
	const struct derive_request *request = reading->request;
	unsigned long long first, count;
	long long rows;

	if (!row_range(request->range, &first, &count, err))
		return false;
	for (size_t i = 0; i < reading->tables.count; i++) {
		const char *name = reading->tables.all[i].name;

		if (strcmp(name, request->table) != 0)
			continue;
		rows = table_row_count(reading, &reading->tables.all[i]);
		if (rows >= 0)
			format_fact_count(reading->ret, "rows", (uint64_t)rows);
		if (!put_table_rows(reading, name, first, count, err))
			return false;
		if (!reading->out.full && rows >= 0 && first + count - 1 < (uint64_t)rows &&
		    strlen(name) < 60 && !request->range) {
			reading->ret->truncated = true;
			snprintf(reading->ret->next, sizeof(reading->ret->next),
			         "table \"%s\" %llu-%llu", name, first + count,
			         first + 2 * count - 1);
		}
		return true;
	}
	return err_set(err, ERR_INVALID_ARGUMENT, "It has no table \"%.100s\": the outline has "
	               "its tables.", request->table);
}

/* ---- all tables ------------------------------------------------------------------------ */

static void put_outline(struct sqlite_reading *reading)
{
	for (size_t i = 0; i < reading->tables.count; i++) {
		const struct sqlite_table *table = &reading->tables.all[i];
		const long long rows = table_row_count(reading, table);
		json_t *entry = format_outline(reading->ret, span_str(table->name), "table",
		                               span_str(table->name));

		if (rows >= 0)
			format_entry_count(entry, "rows", (uint64_t)rows);
	}
}

static void put_all_tables(struct sqlite_reading *reading)
{
	for (size_t i = 0; i < reading->tables.count && !reading->out.full; i++) {
		const struct sqlite_table *table = &reading->tables.all[i];
		const long long rows = table_row_count(reading, table);
		struct err err = ERR_INIT;

		text_out_printf(&reading->out, "## %s %.100s", table->type, table->name);
		if (rows >= 0)
			text_out_printf(&reading->out, " (%lld row%s)\n", rows,
			                rows == 1 ? "" : "s");
		else
			text_out_printf(&reading->out, "\n");
		text_out(&reading->out, span_head(span_str(table->sql), SCHEMA_BYTES));
		text_out_printf(&reading->out, ";\n");
		if (!put_table_rows(reading, table->name, 1, FIRST_ROWS, &err))
			text_out_printf(&reading->out, "(Its rows cannot be read: %s)\n",
			                err.message);
		text_out_printf(&reading->out, "\n");
	}
	reading->ret->next[0] = '\0';
}

static bool read_database(struct sqlite_reading *reading, struct err *err)
{
	struct derive_result *ret = reading->ret;

	format_library(ret, "SQLite %s", reading->open.lib->sqlite3_libversion());
	if (!read_schema(reading, err))
		return false;
	format_fact_count(ret, "tables", reading->tables.count + reading->tables.more);
	if (reading->open.wal)
		format_fact(ret, "note", SPAN("It uses a write-ahead log: changes that are only in "
		                              "its -wal file are not seen."));
	text_out_init(&reading->out, reading->request, ret);
	if (reading->request->table && !put_one_table(reading, err))
		return false;
	if (!reading->request->table && reading->request->want == DERIVE_OUTLINE)
		put_outline(reading);
	else if (!reading->request->table)
		put_all_tables(reading);
	text_out_end(&reading->out);
	return true;
}

bool format_sqlite_read(const struct format_input *input, const struct derive_request *request,
                        struct derive_result *ret, struct err *err)
{
	struct sqlite_reading *reading = mem_alloc(1, sizeof(*reading));
	bool ok;

	reading->request = request;
	reading->ret = ret;
	reading->count_until = clock_monotonic_ms() + COUNT_MS;
	ok = sqlite_open_input(input, &reading->open, err);
	if (ok) {
		ok = read_database(reading, err);
		sqlite_open_close(&reading->open);
	}
	for (size_t i = 0; i < reading->tables.count; i++) {
		free(reading->tables.all[i].name);
		free(reading->tables.all[i].type);
		free(reading->tables.all[i].sql);
	}
	free(reading->tables.all);
	free(reading);
	return ok;
}
