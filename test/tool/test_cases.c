/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the case files given as arguments, one test per case.
 *
 * A file is a list of cases:
 *   {"name": a sentence, "files": {...}, "as_user": true, "hold_open": path,
 *    "session": {"return_content": "none", "read_max_lines": n, ...},
 *    "calls": [{"tool", "arguments", "expect", "before": {files made before this call},
 *               "remove": path}],
 *    "after": {path: SPEC, or null if it must not be there}}
 * Files: workspace_fixture.h.  Expectations: expect.h.  Every result is also checked against
 * its tool's result schema, and the versions of a case's results must grow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "expect.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"
#include "worker/job/job.h"
#include "workspace_fixture.h"

enum { TEXT_MAX = 64 << 20 };

struct one_case {
	const json_t *json;
	struct buf report;   /* what went wrong */
	json_t *seen_codes;  /* shared by all cases */
	json_int_t version;  /* the highest seen */
};

static void check_result_schema(const char *name, json_t *result, struct buf *report)
{
	const struct tool *tool = tool_find(name);
	_cleanup_buf_ struct buf problems = BUF_INIT(TEXT_MAX);
	struct err err = ERR_INIT;
	struct schema *schema;
	json_t *same;

	if (!tool)
		return;
	assert_true(schema_compile(span_str(tool->result_schema), &schema, &err));
	same = schema_check(schema, result, &problems);
	if (problems.len || !json_equal(same, result))
		buf_printf(report, "\n  result does not fit its schema: %s",
		           problems.data ? problems.data : "a value was converted");
	json_decref(same);
	schema_free(schema);
}

/* Notes all error codes and checks that versions grow, anywhere in the result. */
static void look_around(struct one_case *one, const json_t *value)
{
	const json_t *code = json_object_get(json_object_get(value, "error"), "code");
	const json_t *version = json_object_get(value, "version");
	const char *name;
	size_t i;
	json_t *inner;

	if (code)
		json_object_set_new(one->seen_codes, json_string_value(code), json_true());
	if (version && json_integer_value(version) <= one->version)
		buf_printf(&one->report, "\n  version %lld does not grow",
		           (long long)json_integer_value(version));
	if (version)
		one->version = json_integer_value(version);
	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, name, inner)
			look_around(one, inner);
	}
	json_array_foreach(value, i, inner)
		look_around(one, inner);
}

static void run_call(struct one_case *one, struct session *session, const char *root,
                     const json_t *call, size_t index)
{
	_cleanup_free_ char *where = mem_printf("call %zu", index + 1);
	const char *remove_path = json_string_value(json_object_get(call, "remove"));
	const char *tool = json_string_value(json_object_get(call, "tool"));
	_cleanup_buf_ struct buf before = BUF_INIT(TEXT_MAX), now = BUF_INIT(TEXT_MAX);
	json_t *arguments, *wanted, *result;
	const char *named;
	bool writes, was;

	fixture_files(root, json_object_get(call, "before"));
	if (remove_path) {
		_cleanup_free_ char *path = mem_printf("%s/%s", root, remove_path);

		assert_int_equal(remove(path), 0);
	}
	arguments = expect_expand(json_object_get(call, "arguments"), root);
	named = json_string_value(json_object_get(arguments, "file_path"));
	named = named && *named && *named != '/' ? named : NULL;
	was = named && fixture_read(root, named, &before);
	result = tool_call(session, tool, arguments);
	expect_claims(result, &one->report, &writes);
	if (named && !writes &&
	    (fixture_read(root, named, &now) != was || !span_eq(buf_view(&before), buf_view(&now))))
		buf_printf(&one->report, "\n  %s says that it wrote nothing, and did", where);
	wanted = expect_expand(json_object_get(call, "expect"), root);
	expect_match(where, wanted, result, &one->report);
	check_result_schema(tool, result, &one->report);
	look_around(one, result);
	if (tool_result_failed(result) != json_is_true(json_object_get(call, "fails")))
		buf_printf(&one->report, "\n  %s: tool_result_failed is %s", where,
		           tool_result_failed(result) ? "true" : "false");
	json_decref(arguments);
	json_decref(wanted);
	json_decref(result);
}

static void check_after(struct one_case *one, const char *root)
{
	const json_t *after = json_object_get(one->json, "after");
	const char *path;
	json_t *spec;

	json_object_foreach((json_t *)after, path, spec) {
		_cleanup_buf_ struct buf got = BUF_INIT(TEXT_MAX);
		_cleanup_buf_ struct buf wanted = BUF_INIT(TEXT_MAX);
		bool exists = fixture_read(root, path, &got);

		fixture_content(spec, &wanted);
		if (exists == json_is_null(spec))
			buf_printf(&one->report, "\n  afterwards %s %s", path,
			           exists ? "exists" : "is missing");
		else if (exists && !span_eq(buf_view(&got), buf_view(&wanted)))
			buf_printf(&one->report, "\n  afterwards %s is:\n%s", path,
			           got.data ? got.data : "(empty)");
	}
}

static enum return_content return_content(const json_t *name)
{
	if (span_eq(json_span(name), SPAN("none")))
		return RETURN_NONE;
	return span_eq(json_span(name), SPAN("diff")) ? RETURN_DIFF : RETURN_FULL;
}

static void run_calls(struct one_case *one, const char *root, const char *journal)
{
	const json_t *settings = json_object_get(one->json, "session");
	const json_t *max_file = json_object_get(settings, "max_file_bytes");
	struct inprocess_options options = {
		.roots = &root,
		.root_count = 1,
		.journal_folder = journal,
		.durability = DURABILITY_RENAME,
		.max_file_bytes = (size_t)json_integer_value(max_file),
	};
	struct provider *provider = NULL;
	struct err err = ERR_INIT;
	_cleanup_free_ char *logs = mem_printf("%s/logs", journal);
	struct jobs *jobs = jobs_new(&(struct jobs_options){ .log_folder = logs });
	struct session session;
	size_t i;
	json_t *call;

	if (!inprocess_provider(&options, &provider, &err))
		fail_msg("%s", err.message);
	session_init(&session, provider);
	session.jobs = jobs;
	session.return_content = return_content(json_object_get(settings, "return_content"));
	session.read_max_lines =
		(size_t)json_integer_value(json_object_get(settings, "read_max_lines"));
	json_array_foreach(json_object_get(one->json, "calls"), i, call)
		run_call(one, &session, root, call, i);
	session_release(&session);
	jobs_free(jobs);
	provider_free(provider);
}

/* Runs the calls with the file held open for writing, as another program may. */
static void run_calls_held(struct one_case *one, const char *root, const char *journal)
{
	const char *held = json_string_value(json_object_get(one->json, "hold_open"));
	_cleanup_free_ char *path = mem_printf("%s/%s", root, held ? held : "");
	_cleanup_fd_ int fd = open(path, held ? O_WRONLY | O_CLOEXEC : O_PATH | O_CLOEXEC);

	assert_true(fd >= 0);
	run_calls(one, root, journal);
}

static void run_case(void **state)
{
	struct one_case *one = *state;
	char *root = fixture_make();
	char *journal = fixture_make();
	bool as_user = json_is_true(json_object_get(one->json, "as_user")) && geteuid() == 0;

	fixture_files(root, json_object_get(one->json, "files"));
	if (as_user)
		assert_int_equal(seteuid(65534), 0);
	run_calls_held(one, root, journal);
	if (as_user)
		assert_int_equal(seteuid(0), 0);
	check_after(one, root);
	fixture_remove(root);
	fixture_remove(journal);
	free(root);
	free(journal);
	if (one->report.len)
		print_error("%s\n", one->report.data);
	assert_int_equal(one->report.len, 0);
}

/* What no case can bring about without a sick disk, a limit, a person, a model, a server or a defect. */
static bool is_out_of_reach(enum err_code code)
{
	static const enum err_code codes[] = {
		ERR_NONE,      ERR_DENIED_BY_POLICY, ERR_DENIED_BY_USER, ERR_DENIED_BY_SANDBOX,
		ERR_DISK_FULL, ERR_CANNOT_PRESERVE,  ERR_IO_ERROR,       ERR_CANCELLED,
		ERR_INTERNAL,  ERR_WORKER_LOST,      ERR_NETWORK_ERROR,  ERR_AUTHENTICATION_FAILED,
		ERR_QUOTA_EXCEEDED, ERR_OVERLOADED,  ERR_CONTEXT_TOO_LARGE, ERR_MODEL_ERROR,
		ERR_TOOL_FAILED, ERR_NO_RESOURCES,  ERR_LIMIT_REACHED,
		ERR_DENIED_BY_HOOK,
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static void every_error_code_that_can_be_had_occurs_in_some_case(void **state)
{
	const json_t *seen = *state;

	for (enum err_code code = 0; code < ERR_CODE_COUNT; code++)
		if (!is_out_of_reach(code) && !json_object_get(seen, err_name(code)))
			fail_msg("no case ends in %s", err_name(code));
}

struct suite {
	struct CMUnitTest *tests;
	size_t count;
	size_t cap;
	json_t *files;
	json_t *seen_codes;
};

static void suite_add(struct suite *suite, struct CMUnitTest test)
{
	if (suite->count == suite->cap)
		suite->tests = mem_grow(suite->tests, &suite->cap, suite->count + 1,
		                        sizeof(*suite->tests));
	suite->tests[suite->count++] = test;
}

static void suite_load(struct suite *suite, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_MAX);
	struct err err = ERR_INIT;
	json_t *cases, *json;
	size_t i;

	if (!fixture_read("/", path, &text) || !json_parse(buf_view(&text), &cases, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.message);
		exit(2);
	}
	json_array_append_new(suite->files, cases);
	json_array_foreach(cases, i, json) {
		struct one_case *one = mem_alloc(1, sizeof(*one));

		*one = (struct one_case){ .json = json, .report = BUF_INIT(TEXT_MAX),
		                          .seen_codes = suite->seen_codes };
		suite_add(suite, (struct CMUnitTest){
			.name = json_string_value(json_object_get(json, "name")),
			.test_func = run_case, .initial_state = one });
	}
}

int main(int argc, char **argv)
{
	struct suite suite = { .files = json_array(), .seen_codes = json_object() };
	int failed;

	umask(0);
	for (int i = 1; i < argc; i++)
		suite_load(&suite, argv[i]);
	if (argc > 2) /* all files, not one by hand */
		suite_add(&suite, (struct CMUnitTest){
			.name = "every_error_code_that_can_be_had_occurs_in_some_case",
			.test_func = every_error_code_that_can_be_had_occurs_in_some_case,
			.initial_state = suite.seen_codes });
	failed = _cmocka_run_group_tests("tool cases", suite.tests, suite.count, NULL, NULL);
	for (size_t i = 0; i < suite.count; i++)
		if (suite.tests[i].test_func == run_case) {
			struct one_case *one = suite.tests[i].initial_state;

			buf_release(&one->report);
			free(one);
		}
	free(suite.tests);
	json_decref(suite.files);
	json_decref(suite.seen_codes);
	return failed;
}
