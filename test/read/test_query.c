/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of data in a confined child: jq expressions, the structure of values, SQL; and what is
 * made to use up time and memory, which is one error. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "read/query.h"

struct asked {
	const char *name, *query, *sql, *range;
	bool details;
	size_t max_bytes;
	unsigned timeout_ms;
	size_t memory_bytes;
};

static bool query_fd(int fd, const struct asked *asked, struct derive_result *ret, struct err *err)
{
	struct stat st;
	struct derive_request request = { .fd = fd,
		                          .name = asked->name,
		                          .want = DERIVE_QUERY,
		                          .query = asked->query,
		                          .sql = asked->sql,
		                          .range = asked->range,
		                          .details = asked->details,
		                          .max_bytes = asked->max_bytes,
		                          .timeout_ms =
		                                  asked->timeout_ms ? asked->timeout_ms : 60000,
		                          .memory_bytes = asked->memory_bytes };

	assert_int_equal(fstat(fd, &st), 0);
	request.size = (uint64_t)st.st_size;
	return derive(&request, NULL, ret, err);
}

static int file_with(struct span content)
{
	const int fd = memfd_create("data", MFD_CLOEXEC);

	assert_true(fd >= 0 && fd_write_all(fd, content.data, content.len));
	return fd;
}

/* The text; or the error. The caller frees. */
static char *answer(struct span content, const struct asked *asked)
{
	_cleanup_fd_ int fd = file_with(content);
	_cleanup_derive_result_ struct derive_result result = { 0 };
	struct err err = ERR_INIT;

	if (!query_fd(fd, asked, &result, &err))
		return mem_printf("%s: %s", err_name(err.code), err.message);
	return mem_dup(result.text.data ? result.text.data : "", result.text.len);
}

static void expect(const char *content, const struct asked *asked, const char *expected)
{
	_cleanup_free_ char *got = answer(span_str(content), asked);

	if (strcmp(got, expected) != 0)
		print_error("%s of %s:\n", asked->query ? asked->query : "structure", content);
	assert_string_equal(got, expected);
}

/* ---- expressions ---- */

#define SERVICES "{\"services\": [{\"name\": \"web\", \"ports\": [80, 443]}, {\"name\": \"db\"}]}"

static void expressions_give_what_jq_gives(void **state)
{
	static const struct {
		const char *content, *query, *expected;
	} cases[] = {
		{ SERVICES, ".services[].name", "\"web\"\n\"db\"\n" },
		{ SERVICES, "[.services[] | .ports // [] | length]", "[2,0]\n" },
		{ SERVICES, ".services | map(has(\"ports\"))", "[true,false]\n" },
		{ SERVICES, ".services[0] | keys", "[\"name\",\"ports\"]\n" },
		{ "{\"b\":1,\"a\":2,\"b\":3}", ".", "{\"b\":3,\"a\":2}\n" },
		{ "[1.0, 1e2, 1e1000, -0]", ".", "[1,100,1.7976931348623157e+308,-0]\n" },
		{ "\"a\\u0000b\\u007f\xc3\xa9\"", ".", "\"a\\u0000b\\u007f\xc3\xa9\"\n" },
		{ "\xef\xbb\xbf[1]", ".", "[1]\n" },
		{ "[\"\xff\"]", ".[0]", "\"\xef\xbf\xbd\"\n" },
		{ "", ".", "" },
		{ "1 2\n3", ".+1", "2\n3\n4\n" },
		{ "1 2 3", "reduce (., inputs) as $x (0; . + $x)", "6\n" },
		{ "null", "env, $ENV", "{}\n{}\n" },
		{ "null", "input_filename", "null\n" },
		{ "null", "\"x\" | debug | stderr", "\"x\"\n" },
		{ "null", "$__loc__", "{\"file\":\"<top-level>\",\"line\":1}\n" },
		{ "[3,1,2]", "sort | .[1:] | @csv", "\"2,3\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(cases[i].content,
		       &(const struct asked){ .name = "a.json", .query = cases[i].query },
		       cases[i].expected);
}

static void other_formats_are_trees(void **state)
{
	static const struct {
		const char *name, *content, *query, *expected;
	} cases[] = {
		{ "a.yaml", "a: &x {n: 1}\nb: *x\nc: [yes, 2024-01-02, 'q']\n", "tojson",
		  "\"{\\\"a\\\":{\\\"n\\\":1},\\\"b\\\":{\\\"n\\\":1},\\\"c\\\":[\\\"yes\\\","
		  "\\\"2024-01-02\\\",\\\"q\\\"]}\"\n" },
		{ "a.yml", "a: 1\n---\na: 2\n", ".[].a", "1\n2\n" },
		{ "a.jsonc", "// c\n{\"a\": [1, 2,], /* d */}\n", ".a", "[1,2]\n" },
		{ "tsconfig.json", "{\"a\": 1, // c\n}\n", ".", "{\"a\":1}\n" },
		{ "a.txt", "{}", ".",
		  "not_text: a.txt: Its name is none of JSON, JSON Lines, YAML, "
		  "TOML, XML, CSV, TSV, INI "
		  "or properties files." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(cases[i].content,
		       &(const struct asked){ .name = cases[i].name, .query = cases[i].query },
		       cases[i].expected);
}

static void a_wrong_expression_is_a_sentence_with_its_place(void **state)
{
	static const struct {
		const char *content, *query, *expected;
	} cases[] = {
		{ SERVICES, ".services[] | .a.",
		  "invalid_argument: a.json: The expression cannot be compiled "
		  "by jq: syntax "
		  "error, "
		  "unexpected $end, expecting FORMAT or QQSTRING_START, line 1: .services[] | "
		  ".a." },
		{ SERVICES, "foo(1)",
		  "invalid_argument: a.json: The expression cannot be compiled "
		  "by jq: foo/1 is not "
		  "defined, line 1: foo(1)" },
		{ SERVICES, ".services.name",
		  "invalid_argument: a.json: The expression fails. Value 1: "
		  "Cannot index array "
		  "with "
		  "string \"name\"" },
		{ SERVICES, "import \"a\" as a; 1",
		  "invalid_argument: a.json: The expression cannot be compiled "
		  "by jq: module not "
		  "found: a" },
		{ "{\"a\": tru}", ".",
		  "invalid_argument: a.json: It cannot be parsed: Invalid "
		  "literal at line 1, "
		  "column "
		  "10" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(cases[i].content,
		       &(const struct asked){ .name = "a.json", .query = cases[i].query },
		       cases[i].expected);
}

static void errors_of_single_values_do_not_end_the_others(void **state)
{
	_cleanup_fd_ int fd = file_with(SPAN("1\n\"a\"\n3\n{\"b\":"));
	_cleanup_derive_result_ struct derive_result result = { 0 };
	struct err err = ERR_INIT;
	const json_t *errors;

	(void)state;
	assert_true(query_fd(fd, &(const struct asked){ .name = "a.jsonl", .query = ".+1" },
	                     &result, &err));
	errors = json_object_get(result.facts, "errors");
	assert_string_equal(result.text.data, "2\n4\n");
	assert_int_equal(json_array_size(errors), 2);
	assert_string_equal(json_string_value(json_array_get(errors, 0)),
	                    "Value 2: string (\"a\") and number (1) cannot be added");
	assert_string_equal(
		json_string_value(json_array_get(errors, 1)),
		"The file cannot be parsed after value 3: Unfinished JSON term at EOF at "
		"line 4, column 5");
}

/* ---- how much ---- */

static void check_part(const char *query, const char *range, size_t max_bytes, const char *text,
                       const char *next, int total)
{
	_cleanup_fd_ int fd = file_with(SPAN("[1,22,333]"));
	_cleanup_derive_result_ struct derive_result result = { 0 };
	const struct asked asked = {
		.name = "a.json", .query = query, .range = range, .max_bytes = max_bytes
	};
	struct err err = ERR_INIT;
	const json_t *all;

	assert_true(query_fd(fd, &asked, &result, &err));
	all = json_object_get(result.facts, "total");
	assert_string_equal(result.text.data ? result.text.data : "", text);
	assert_string_equal(result.next, next);
	assert_int_equal(result.truncated, *next != '\0');
	assert_int_equal(all ? json_integer_value(all) : -1, total);
}

static void results_come_in_parts(void **state)
{
	(void)state;
	check_part(".[]", NULL, 0, "1\n22\n333\n", "", 3);
	check_part(".[]", "2-2", 0, "22\n", "3", 3);
	check_part(".[]", "3-9", 0, "333\n", "", 3);
	check_part(".[]", NULL, 5, "1\n22\n", "3", 3);
	check_part("repeat(7)", "1-2", 0, "7\n7\n", "3", -1);
	check_part("\"0123456789\"", NULL, 10, "\"01234567", "2", 1);
}

/* With AddressSanitizer memory does not run out as it does otherwise. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
enum { MEMORY_RUNS_OUT = !__has_feature(address_sanitizer) };

/* Elements of a large array come one at a time: as much memory as one takes. */
static void large_arrays_are_read_by_element(void **state)
{
	enum { COUNT = 60000 };
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);
	const struct asked asked = { .name = "a.json",
		                     .query = ".[].user | select(.id >= 59998) | .id, .s[1:]",
		                     .memory_bytes = 24 << 20 };
	struct asked whole = asked;
	_cleanup_free_ char *got = NULL, *refused = NULL;

	(void)state;
	buf_char(&text, '[');
	for (int i = 0; i < COUNT; i++)
		buf_printf(&text, "%s{\"user\": {\"id\": %d, \"s\": \"],[{\\\"%0200d\"}}",
		           i ? " ,\n" : "", i, 0);
	buf_str(&text, "]\n");
	got = answer(buf_view(&text), &asked);
	assert_int_equal(strncmp(got, "59998\n\",[{\\\"000", 15), 0);
	whole.query = "map(.user.id) | length";
	refused = answer(buf_view(&text), &whole);
	assert_true(!MEMORY_RUNS_OUT || (strstr(refused, "too_large: ") == refused &&
	                                 strstr(refused, "24 MB of memory")));
	text.len -= 2;
	free(mem_steal(&got));
	got = answer(buf_view(&text), &asked);
	assert_int_equal(strncmp(got, "59998\n", 6), 0);
}

static void only_expressions_about_one_element_stream(void **state)
{
	static const char *const streams[] = { ".[]", " .[] | .a, .b", ".[].a[0].b|c", ".[][\"x\"]",
		                               ".[][]" };
	static const char *const others[] = { ".",        ".[] as $x | .", ".[],1",   ".[]+1",
		                              ".[] |= 1", "[.[]]",         ".[].a?",  ".[][.a]",
		                              ".[] , 2",  ".[]//1",        ".[].a|=2" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
		_cleanup_free_ char *each = query_streams(streams[i]);

		assert_non_null(each);
		assert_int_equal(strlen(each), strlen(streams[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_null(query_streams(others[i]));
}

/* Cut into pieces of each size, an array gives the same. */
static void elements_are_found_in_pieces_of_any_size(void **state)
{
	static const char text[] = " [1 , \"a],\\\"\" ,[2,[3]], {\"b\":[\"]\"]},true ] \n";
	static const char expected[] = "  1   \"a],\\\"\"  [2,[3]]  {\"b\":[\"]\"]} true   \n";
	static const char *const wrong[] = { "{}",    "[1 2]",  "[1,]", "[,1]", "[1]]",
		                             "[1] 2", "[1,,2]", "[}",   "1" };
	size_t at;

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct query_elements elements = { 0 };
		char copy[sizeof(text)];

		memcpy(copy, text, sizeof(text));
		for (size_t i = 0; i < sizeof(text) - 1; i += piece)
			assert_true(query_elements(
				&elements, copy + i,
				i + piece < sizeof(text) ? piece : sizeof(text) - 1 - i, &at));
		assert_string_equal(copy, expected);
		assert_int_equal(elements.at, SPLIT_ENDED);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct query_elements elements = { 0 };
		char copy[16];

		snprintf(copy, sizeof(copy), "%s", wrong[i]);
		assert_false(query_elements(&elements, copy, strlen(copy), &at));
	}
}

/* ---- structure ---- */

static void a_structure_has_paths_kinds_and_counts(void **state)
{
	static const char list[] =
		"[{\"id\":1,\"a b\":\"x\",\"t\":null},{\"id\":7,\"t\":[1.5,true]},"
		"{\"id\":2,\"a b\":\"\",\"n\":\"12\"}]";

	(void)state;
	expect(list, &(const struct asked){ .name = "a.json" },
	       ".: array of 3 items\n"
	       ".[]: object of 4 keys, 3 times\n"
	       ".[].id: integer, 1 to 7\n"
	       ".[].\"a b\": string, in 2 of 3, 1 empty, \"x\"\n"
	       ".[].t: null (1) | array of 2 items (1), in 2 of 3\n"
	       ".[].t[]: boolean (1) | number (1), 2 times, 1.5\n"
	       ".[].n: string (numbers), in 1 of 3, \"12\"\n");
	expect(list, &(const struct asked){ .name = "a.json", .query = ".[].id", .details = true },
	       ".: integer, 3 times, 1 to 7\n");
	expect(list, &(const struct asked){ .name = "a.json", .max_bytes = 60 },
	       ".: array of 3 items\n.[]: object of 4 keys, 3 times\n");
}

/* Of a large object as of a small one, in little memory. */
static void a_large_objects_structure_is_that_of_its_values(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);

	(void)state;
	buf_str(&text, "{\"empty\": {}, \"list\": [[], [1, 2], [3]], \"items\": [");
	for (int i = 0; i < 60000; i++)
		buf_printf(&text, "%s{\"id\": %d, \"s\": \"%0100d\", \"t\": [%s]}", i ? "," : "", i,
		           0, i % 2 ? "null, {\"x\": true}" : "");
	buf_str(&text, "], \"end\": false}");
	expect(text.data, &(const struct asked){ .name = "a.json", .memory_bytes = 16 << 20 },
	       ".: object of 4 keys\n"
	       ".empty: object\n"
	       ".list: array of 3 items\n"
	       ".list[]: array of 0 to 2 items, 3 times\n"
	       ".list[][]: integer, 3 times, 1 to 3\n"
	       ".items: array of 60000 items\n"
	       ".items[]: object of 3 keys, 60000 times\n"
	       ".items[].id: integer, 0 to 59999\n"
	       ".items[].s: string, \"0000000000000000000000000000000000000000…\"\n"
	       ".items[].t: array of 0 to 2 items\n"
	       ".items[].t[]: null (30000) | object of 1 key (30000), 60000 times\n"
	       ".items[].t[].x: boolean\n"
	       ".end: boolean\n");
}

/* An object with many keys whose values are alike is a table: one path for all. */
static void a_table_is_one_path(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	(void)state;
	buf_str(&text, "{\"packages\":{");
	for (int i = 0; i < 5000; i++)
		buf_printf(&text, "%s\"p/%d\":{\"version\":\"%d\"}", i ? "," : "", i, i % 2);
	buf_str(&text, "}}");
	expect(text.data, &(const struct asked){ .name = "package-lock.json" },
	       ".: object of 1 key\n"
	       ".packages: object of 5000 keys, keys \"p/0\", \"p/1\", \"p/2\", …\n"
	       ".packages[]: object of 1 key, 5000 times\n"
	       ".packages[].version: string (numbers), \"0\", \"1\"\n");
}

/* ---- hostile ---- */

static void what_does_not_end_is_one_error(void **state)
{
	static const struct {
		const char *query, *expected;
		size_t memory;
	} cases[] = {
		{ "def f: f; f",
		  "too_large: a.json is structured data that could not be read within", 0 },
		{ "[range(1e12)]", "too_large: a.json", 32 << 20 },
		{ "def f: 1 + f; f",
		  "too_large: a.json: The query needs more than 64 MB",
		  64 << 20 },
		{ "reduce range(1e7) as $i (0; [.]) | tojson", "_", 256 << 20 },
		{ "\"x\" * 1e9 | length", "_", 64 << 20 },
		{ "(\"a\" * 40) + \"b\" | test(\"^(a|a|a)+$\")", "_", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *got = NULL;

		if (cases[i].memory && !MEMORY_RUNS_OUT)
			continue;
		got = answer(SPAN("1"),
		             &(const struct asked){ .name = "a.json",
		                                    .query = cases[i].query,
		                                    .timeout_ms = cases[i].memory ? 30000 : 700,
		                                    .memory_bytes = cases[i].memory });
		if (strcmp(cases[i].expected, "_") == 0)
			assert_true(strstr(got, "too_large: ") == got ||
			            strstr(got, "tool_failed: ") == got ||
			            strstr(got, "invalid_argument: ") == got);
		else
			assert_int_equal(strncmp(got, cases[i].expected, strlen(cases[i].expected)),
			                 0);
	}
}

static void hostile_files_are_one_error_or_an_answer(void **state)
{
	_cleanup_buf_ struct buf deep = BUF_INIT(1 << 20);
	_cleanup_free_ char *got = NULL;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_char(&deep, '[');
	got = answer(buf_view(&deep), &(const struct asked){ .name = "a.json", .query = "." });
	assert_non_null(strstr(
		got,
		"invalid_argument: a.json: It cannot be parsed: Exceeds depth"));
	expect("[1,\x01]", &(const struct asked){ .name = "a.json", .query = "." },
	       "invalid_argument: a.json: It cannot be parsed: Invalid numeric "
	       "literal at line 1, "
	       "column 5");
	free(mem_steal(&got));
	got = answer(SPAN("[\"a\0b\"]"), &(const struct asked){ .name = "a.json", .query = "." });
	assert_non_null(got);
}

/* ---- SQL ---- */

static void sql_only_reads(void **state)
{
	static const struct {
		const char *sql, *expected;
	} cases[] = {
		{ "SELECT * FROM users ORDER BY id DESC",
		  "[2,\"bob\",2.5,{\"blob\":2,\"hex\":\"00ff\"}]\n[1,\"ann\",null,null]\n" },
		{ "SELECT count(*) FROM v", "[2]\n" },
		{ "SELECT name FROM pragma_table_info('users') LIMIT 2", "[\"id\"]\n[\"name\"]\n" },
		{ NULL,
		  "users: table of 2 rows (id INTEGER KEY, name TEXT, score REAL, data BLOB)\n"
		  "v: view (name TEXT)\n" },
		{ "DELETE FROM users",
		  "invalid_argument: d.db: The database is only read" },
		{ "INSERT INTO users(id) VALUES (9) RETURNING id",
		  "invalid_argument: d.db: The database" },
		{ "ATTACH '/etc/passwd' AS p",
		  "invalid_argument: d.db: The database is only read, so "
		  "ATTACH is not allowed" },
		{ "VACUUM INTO '/tmp/x'",
		  "invalid_argument: d.db: The database is only read" },
		{ "PRAGMA journal_mode = WAL",
		  "invalid_argument: d.db: The database is only read, so "
		  "PRAGMA journal_mode is not allowed" },
		{ "SELECT load_extension('x')",
		  "invalid_argument: d.db: The database is only read, so the "
		  "function load_extension is not allowed" },
		{ "SELECT 1; SELECT 2",
		  "invalid_argument: d.db: sql must be one statement." },
		{ "SELEC 1", "invalid_argument: d.db: SQLite does not accept "
		             "the statement: near "
		             "\"SELEC\": syntax error, at \"SELEC 1\"." },
	};
	char folder[] = "/tmp/test_query.XXXXXX", path[64], command[600];
	_cleanup_fd_ int fd = -1;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/d.db", folder);
	snprintf(
		command, sizeof(command),
		"sqlite3 %s \"CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, score REAL, "
		"data "
		"BLOB); INSERT INTO users VALUES (1, 'ann', NULL, NULL), (2, 'bob', 2.5, x'00ff'); "
		"CREATE VIEW v AS SELECT name FROM users; CREATE TRIGGER t AFTER INSERT ON users "
		"BEGIN DELETE FROM users; END;\"",
		path);
	{
		FILE *made = popen(command, "r");

		assert_non_null(made);
		assert_int_equal(pclose(made), 0);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_derive_result_ struct derive_result result = { 0 };
		struct err err = ERR_INIT;
		_cleanup_free_ char *failed = NULL;
		const bool ok =
			query_fd(fd, &(const struct asked){ .name = "d.db", .sql = cases[i].sql },
		                 &result, &err);
		const char *got = ok ? result.text.data : err.message;

		if (!ok)
			got = failed = mem_printf("%s: %s", err_name(err.code), err.message);
		assert_int_equal(strncmp(got, cases[i].expected, strlen(cases[i].expected)), 0);
	}
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_give_what_jq_gives),
		cmocka_unit_test(other_formats_are_trees),
		cmocka_unit_test(a_wrong_expression_is_a_sentence_with_its_place),
		cmocka_unit_test(errors_of_single_values_do_not_end_the_others),
		cmocka_unit_test(results_come_in_parts),
		cmocka_unit_test(large_arrays_are_read_by_element),
		cmocka_unit_test(only_expressions_about_one_element_stream),
		cmocka_unit_test(elements_are_found_in_pieces_of_any_size),
		cmocka_unit_test(a_structure_has_paths_kinds_and_counts),
		cmocka_unit_test(a_large_objects_structure_is_that_of_its_values),
		cmocka_unit_test(a_table_is_one_path),
		cmocka_unit_test(what_does_not_end_is_one_error),
		cmocka_unit_test(hostile_files_are_one_error_or_an_answer),
		cmocka_unit_test(sql_only_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
