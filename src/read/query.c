/* SPDX-License-Identifier: Apache-2.0 */
/* jq expressions on the values of a file, or their structure. */
#include "read/query.h"

#include <iconv.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

/* ---- libjq --------------------------------------------------------------------------- */

#define ROW(name) { #name, offsetof(struct jq_library, name) },
static const struct library_symbol jq_symbols[] = { JQ_FUNCTIONS(ROW) };
#undef ROW

static const struct library jq_row = {
	{ "libjq.so.1" }, "Queries need", "libjq1", jq_symbols, ARRAY_LEN(jq_symbols)
};

static pthread_once_t jq_once = PTHREAD_ONCE_INIT;
static struct jq_library jq_loaded;
static struct err jq_absent;

static void load_jq(void)
{
	library_load(&jq_row, &jq_loaded, &jq_absent);
}

static const struct jq_library *query_library(struct err *err)
{
	pthread_once(&jq_once, load_jq);
	if (jq_absent.code == ERR_NONE)
		return &jq_loaded;
	*err = jq_absent;
	return NULL;
}

/* Most encodings are files of iconv, which it loads when they are used first; these stay open. */
bool query_data_load(struct err *err)
{
	static const char *const encodings[] = { "WINDOWS-1252", "UTF-16LE", "UTF-32LE" };

	for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
		(void)iconv_open("UTF-8", encodings[i]);
	return query_library(err) != NULL;
}

/* ---- what comes of it ------------------------------------------------------------------ */

enum {
	ERRORS_SHOWN = 5,
	ERROR_BYTES = 300,       /* of one sentence */
	COUNTED_FURTHER = 10000, /* results past those asked for, to say how many there are */
};

struct query_run {
	const struct jq_library *jq;
	const struct derive_request *request;
	struct derive_result *ret;
	struct query_source source;
	jq_state *state;
	struct query_shape *shape; /* takes the results; NULL: they are text */
	uint64_t first, last;      /* results to be given */
	uint64_t count, given, failed;
	bool full;   /* the text is */
	bool enough; /* no more need to be counted */
	size_t max_bytes;
	json_t *errors, *notes; /* borrowed from the facts once they are there */
	struct buf wrong;       /* what libjq said about the expression */
};

static void query_run_note(json_t *list, const char *text)
{
	if (json_array_size(list) < ERRORS_SHOWN)
		json_array_append_new(list, json_text(utf8_head(span_str(text), ERROR_BYTES)));
}

/* The text of a value in one line, as `jq -c` prints it; takes the value. */
static jv query_text(const struct query_run *run, jv value)
{
	return run->jq->jv_dump_string(value, 0);
}

/* The sentence in an invalid value, which is taken. Owned. */
static char *query_message(const struct query_run *run, jv invalid)
{
	const struct jq_library *jq = run->jq;
	jv message = jq->jv_invalid_get_msg(invalid);
	char *text;

	if (jq->jv_get_kind(message) != JV_KIND_STRING)
		message = query_text(run, message);
	text = mem_strdup(jq->jv_string_value(message));
	jq->jv_free(message);
	return text;
}

/* The answer may have no control characters: of those, JSON allows DEL in strings. */
static void put_clean(struct buf *out, struct span text)
{
	const char *del;

	while (text.len && (del = memchr(text.data, 0x7f, text.len))) {
		const size_t len = (size_t)(del - text.data);

		buf_span(out, span_head(text, len));
		buf_str(out, "\\u007f");
		text = span_skip(text, len + 1);
	}
	buf_span(out, text);
}

/* The first result is longer than there is room for. */
static void put_beginning(struct query_run *run, struct span text)
{
	put_clean(&run->ret->text, utf8_head(text, run->max_bytes * 9 / 10));
	format_fact_count(run->ret, "cut_bytes", text.len);
}

static void query_put_result(struct query_run *run, jv value)
{
	const struct jq_library *jq = run->jq;
	jv dumped = query_text(run, value);
	const struct span text = span_of(jq->jv_string_value(dumped),
	                                 (size_t)jq->jv_string_length_bytes(jq->jv_copy(dumped)));
	const size_t before = run->ret->text.len;

	if (before + text.len + 1 <= run->max_bytes)
		put_clean(&run->ret->text, text);
	if (run->ret->text.len == before || run->ret->text.len + 1 > run->max_bytes) {
		run->ret->text.len = before;
		run->full = true;
		if (!run->given)
			put_beginning(run, text);
	} else {
		buf_char(&run->ret->text, '\n');
		run->given++;
	}
	jq->jv_free(dumped);
}

static void query_take_result(struct query_run *run, jv value)
{
	run->count++;
	if (run->shape) {
		query_shape_add(run->shape, run->jq, value, false);
		run->jq->jv_free(value);
	} else if (run->count >= run->first && run->count <= run->last && !run->full) {
		query_put_result(run, value);
	} else {
		run->jq->jv_free(value);
		run->enough = run->count >= run->first + run->given + COUNTED_FURTHER &&
		              (run->full || run->count > run->last);
	}
}

/* An error of the expression with one value, or of the file. */
static void query_take_error(struct query_run *run, jv invalid, bool of_file)
{
	_cleanup_free_ char *why = query_message(run, invalid);
	const uint64_t values = run->source.values;
	_cleanup_free_ char *text =
		!of_file ? mem_printf("Value %" PRIu64 ": %s", values, why)
		: values ? mem_printf("The file cannot be parsed after value %" PRIu64 ": %s",
	                              values, why)
			 : mem_printf("It cannot be parsed: %s", why);

	run->failed++;
	query_run_note(run->errors, text);
}

/* ---- the expression -------------------------------------------------------------------- */

/* Past a string in quotation marks, which begins at `at`. */
static const char *expression_skip_quoted(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* Past what may follow `.[]` and still is about each element alone: names, and plain indexes. */
static const char *expression_skip_path(const char *at)
{
	for (;;) {
		if (at[0] == '.' && (ascii_is_alnum(at[1]) || at[1] == '_')) {
			for (at++; ascii_is_alnum(*at) || *at == '_'; at++)
				;
		} else if (at[0] == '[' &&
		           (at[1] == ']' || at[1] == '"' || ascii_is_digit(at[1]))) {
			at = at[1] == '"' ? expression_skip_quoted(at + 1) : at + 1;
			while (ascii_is_digit(*at))
				at++;
			if (*at++ != ']')
				return "!";
		} else {
			return at;
		}
	}
}

char *query_streams(const char *expression)
{
	const char *at = expression + strspn(expression, " \t\r\n");
	const char *end;
	char *each;

	if (strncmp(at, ".[]", 3) != 0)
		return NULL;
	end = expression_skip_path(at + 3);
	end += strspn(end, " \t\r\n");
	if (*end && (end[0] != '|' || end[1] == '='))
		return NULL;
	each = mem_strdup(expression);
	memcpy(each + (at - expression) + 1, "  ", 2);
	return each;
}

/* "jq: error: syntax error, unexpected ')' (Unix shell quoting issues?) at <top-level>, line 1:"
 * without what is about shells and programs. */
static void put_wrong(struct buf *out, struct span text)
{
	static const char *const left_out[] = { "jq: error: ", " (Unix shell quoting issues?)",
		                                " at <top-level>" };

	while (text.len) {
		size_t skip = 0;

		for (size_t i = 0; i < ARRAY_LEN(left_out) && !skip; i++)
			skip = span_starts(text, span_str(left_out[i])) ? strlen(left_out[i]) : 0;
		if (!skip && text.data[0] == '\n')
			buf_char(out, ' ');
		else if (!skip)
			buf_char(out, text.data[0]);
		text = span_skip(text, skip ? skip : 1);
	}
}

static void expression_wrong(void *data, jv message)
{
	struct query_run *run = data;
	const struct jq_library *jq = run->jq;
	const char *text =
		jq->jv_get_kind(message) == JV_KIND_STRING ? jq->jv_string_value(message) : "";

	/* "jq: 2 compile errors" */
	if (strncmp(text, "jq: error: ", 11) == 0 && run->wrong.len < ERR_MESSAGE_MAX) {
		buf_str(&run->wrong, run->wrong.len ? "; " : "");
		put_wrong(&run->wrong, span_trim(span_str(text)));
	}
	jq->jv_free(message);
}

/* `debug`, and errors that were counted already. */
static void ignore_message(void *data, jv message)
{
	struct query_run *run = data;

	run->jq->jv_free(message);
}

static jv next_input(jq_state *state, void *data)
{
	struct query_run *run = data;

	(void)state;
	return query_source_next(&run->source);
}

static bool expression_compile(struct query_run *run, const char *expression, struct err *err)
{
	const struct jq_library *jq = run->jq;

	run->state = jq->jq_init();
	if (!run->state)
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for the query.");
	jq->jq_set_attr(run->state, jq->jv_string("JQ_LIBRARY_PATH"), jq->jv_array());
	jq->jq_set_attr(run->state, jq->jv_string("JQ_ORIGIN"), jq->jv_string("/nonexistent"));
	jq->jq_set_error_cb(run->state, expression_wrong, run);
	if (!jq->jq_compile(run->state, expression))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The expression cannot be compiled by jq: %.*s",
		               (int)utf8_head(buf_view(&run->wrong), 600).len,
		               run->wrong.data ? run->wrong.data : "no reason given");
	jq->jq_set_error_cb(run->state, ignore_message, run);
	jq->jq_set_debug_cb(run->state, ignore_message, run);
	jq->jq_set_input_cb(run->state, next_input, run);
	return true;
}

/* The expression with one value as its input; false: the rest is not asked for. */
static bool expression_apply(struct query_run *run, jv value)
{
	const struct jq_library *jq = run->jq;
	jv result;

	jq->jq_start(run->state, value, 0);
	while (jq->jv_get_kind(result = jq->jq_next(run->state)) != JV_KIND_INVALID) {
		query_take_result(run, result);
		if (run->enough)
			return false;
	}
	if (jq->jq_halted(run->state)) {
		jq->jv_free(result);
		query_run_note(run->notes, "The expression ended the query (halt).");
		return false;
	}
	if (!jq->jv_invalid_has_msg(jq->jv_copy(result))) {
		jq->jv_free(result);
		return true;
	}
	query_take_error(run, result, false);
	return !run->source.elements; /* there, all elements are one input */
}

/* ---- a file ------------------------------------------------------------------------------ */

static void run_values(struct query_run *run)
{
	const struct jq_library *jq = run->jq;
	bool more = true;
	jv value;

	while (more &&
	       jq->jv_get_kind(value = query_source_next(&run->source)) != JV_KIND_INVALID) {
		if (run->state) {
			more = expression_apply(run, value);
		} else {
			if (run->source.events)
				query_shape_event(run->shape, jq, value);
			else
				query_shape_add(run->shape, jq, value, run->source.elements);
			jq->jv_free(value);
			run->count++;
		}
	}
	if (!more)
		return;
	if (jq->jv_invalid_has_msg(jq->jv_copy(value)))
		query_take_error(run, value, true);
	else
		jq->jv_free(value);
}

static void put_query_facts(struct query_run *run)
{
	struct derive_result *ret = run->ret;

	format_fact_count(ret, "results", run->given);
	if (!run->enough)
		format_fact_count(ret, "total", run->count);
	if (run->source.stopped)
		query_run_note(run->notes,
		               "The file is large: this is the structure of its beginning.");
	if (run->source.rounded)
		query_run_note(run->notes,
		               "Numbers of more than 15 digits may be rounded: jq computes with "
		               "doubles.");
	if (run->failed > json_array_size(run->errors)) {
		_cleanup_free_ char *more =
			mem_printf("%" PRIu64 " values failed in all.", run->failed);

		query_run_note(run->notes, more);
	}
	if (json_array_size(run->errors))
		json_object_set(ret->facts, "errors", run->errors);
	if (json_array_size(run->notes))
		json_object_set(ret->facts, "notes", run->notes);
}

/* Results that were not given; or paths. */
static void put_query_rest(struct query_run *run)
{
	struct derive_result *ret = run->ret;
	const uint64_t next = run->first + run->given;

	if (run->shape) {
		ret->truncated = !query_shape_print(run->shape, run->max_bytes, &ret->text);
	} else if (run->enough || run->count >= next) {
		ret->truncated = true;
		snprintf(ret->next, sizeof(ret->next), "%" PRIu64, run->given ? next : next + 1);
	}
}

/* Whether there is nothing but errors. */
static bool query_failed(const struct query_run *run, struct err *err)
{
	const struct span why = json_span(json_array_get(run->errors, 0));

	return run->failed && !run->count &&
	       !err_set(err, ERR_INVALID_ARGUMENT, "%s%.*s",
	                run->source.values ? "The expression fails. " : "", (int)why.len, why.data);
}

static bool query_open(struct query_run *run, const struct format_input *input, struct err *err)
{
	const char *expression = run->request->query;
	_cleanup_free_ char *each = expression ? query_streams(expression) : NULL;

	if (!query_range(run->request->range, &run->first, &run->last, err) ||
	    !query_source_open(&run->source, run->jq, input,
	                       !expression ? QUERY_EVENTS :
	                       each        ? QUERY_ELEMENTS :
	                                     QUERY_WHOLE,
	                       err))
		return false;
	if (!expression || run->request->details)
		run->shape = query_shape_new();
	if (!expression) /* events take longer */
		run->source.max_bytes = LIMIT_QUERY_SHAPE_BYTES / (run->source.events ? 4 : 1);
	if (!expression)
		return true;
	return expression_compile(run, run->source.elements ? each : expression, err);
}

/* libjq 1.6 aborts when memory runs out, whatever handler it was given, and where it is wrong
 * itself; a confined process cannot send itself SIGABRT, and gets SIGSEGV. So it does when it
 * recurses too deep. */
static sigjmp_buf query_aborted; /* of the one query of this process, a child */

static void query_abort(int signal)
{
	(void)signal;
	siglongjmp(query_aborted, 1);
}

static void query_abort_memory(void *data)
{
	(void)data;
	siglongjmp(query_aborted, 1);
}

static bool query_refuse(const struct format_input *input, const struct derive_request *request,
                         struct err *err)
{
	const size_t memory = request->memory_bytes ? request->memory_bytes : LIMIT_DERIVE_MEMORY;

	return err_set(err, ERR_TOO_LARGE,
	               "The query needs more than %zu MB of memory (hasp.formats.memoryMb), or "
	               "nests too deeply. The file has %.1f MB. Elements of a large JSON array are "
	               "read one at a time if the expression begins with `.[] |`, JSON Lines line "
	               "by line; other JSON must fit.", memory >> 20, (double)input->size / 1e6);
}

/* All that can be done with the file; what it leaves in *run is the caller's. */
static bool query_make(struct query_run *run, const struct format_input *input, struct err *err)
{
	format_library(run->ret, "libjq");
	if (!query_open(run, input, err))
		return false;
	run_values(run);
	if (query_failed(run, err))
		return false;
	put_query_rest(run);
	put_query_facts(run);
	return true;
}

static void query_run_release(struct query_run *run)
{
	if (run->state)
		run->jq->jq_teardown(&run->state);
	query_source_close(&run->source);
	query_shape_free(run->shape);
	json_decref(run->errors);
	json_decref(run->notes);
	buf_release(&run->wrong);
	free(run);
}

bool query_data_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	static char *nothing[] = { NULL };
	const struct jq_library *jq = query_library(err);
	const struct sigaction action = { .sa_handler = query_abort, .sa_flags = SA_ONSTACK };
	struct sigaction aborts, crashes;
	char **const variables = environ;
	void *reserve; /* for the error when memory has run out */
	struct query_run *run;
	bool ok;

	if (!jq)
		return false;
	if (request->sql)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is no SQLite database: use a jq expression (query), not sql.");
	reserve = mem_piece();
	run = mem_alloc(1, sizeof(*run));
	*run = (struct query_run){ .jq = jq,
		                   .request = request,
		                   .ret = ret,
		                   .errors = json_array(),
		                   .notes = json_array(),
		                   .wrong = BUF_INIT(ERR_MESSAGE_MAX * 2),
		                   .max_bytes = request->max_bytes ? request->max_bytes
		                                                   : LIMIT_DERIVE_TEXT };
	environ = nothing; /* `env` shows it */
	sigaction(SIGABRT, &action, &aborts);
	sigaction(SIGSEGV, &action, &crashes);
	jq->jv_nomem_handler(query_abort_memory, NULL);
	if (sigsetjmp(query_aborted, 1)) {
		free(reserve);
		ok = query_refuse(input, request, err); /* what is in use is lost: the child ends */
	} else {
		ok = query_make(run, input, err);
		free(reserve);
		query_run_release(run);
	}
	sigaction(SIGABRT, &aborts, NULL);
	sigaction(SIGSEGV, &crashes, NULL);
	environ = variables;
	return ok;
}

bool query_range(const char *range, uint64_t *ret_first, uint64_t *ret_last, struct err *err)
{
	struct format_pages pages;

	*ret_first = 1;
	*ret_last = LIMIT_QUERY_RESULTS;
	if (!range)
		return true;
	if (!format_pages(range, "result", UINT32_MAX, &pages, err))
		return false;
	if (pages.count != 1)
		return err_set(err, ERR_INVALID_ARGUMENT, "Results are asked for as \"51-100\".");
	*ret_first = pages.ranges[0].first;
	*ret_last = pages.ranges[0].last;
	return true;
}
