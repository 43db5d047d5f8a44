/* SPDX-License-Identifier: Apache-2.0 */
/* search_probe ROOT PATH PATTERN [option=value]...: prints what search finds.
 *
 * One line a file, "F path matches more sha256|-", and one a line of it, "L number kind text", kind
 * being "m" (match), "c" (context) or "+" (a further line of a match), with "!" after it when the
 * text was cut; last "= matches more timed_out searched unreadable".  The error's name and exit 1
 * when it fails.  Options are named as the fields of search_request; twice=1 searches with a cache
 * that has been built, and prints the second answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"

enum { LIST_MAX = 16, SETTLE_MS = 60000 };

struct options {
	struct search_request request;
	const char *include[LIST_MAX], *exclude[LIST_MAX], *types[LIST_MAX], *ignore[LIST_MAX];
	bool twice;
};

static void add(const char **list, size_t *count, const char *value)
{
	if (*count == LIST_MAX)
		exit(2);
	list[(*count)++] = value;
}

static bool set_flag(struct options *o, const char *name, const char *value)
{
	struct search_request *r = &o->request;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "literal", &r->match.literal },
		{ "whole_word", &r->match.whole_word },
		{ "whole_line", &r->match.whole_line },
		{ "multiline", &r->match.multiline },
		{ "hashes", &r->hashes },
		{ "no_git_ignore", &r->rules.no_git_ignore },
		{ "no_gemini_ignore", &r->rules.no_gemini_ignore },
		{ "hidden_out", &r->rules.hidden_out },
		{ "twice", &o->twice },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (strcmp(name, flags[i].name) == 0) {
			*flags[i].flag = value[0] == '1';
			return true;
		}
	return false;
}

static bool set_number(struct options *o, const char *name, const char *value)
{
	struct search_request *r = &o->request;
	const unsigned long number = strtoul(value, NULL, 10);
	const struct {
		const char *name;
		size_t *number;
	} numbers[] = {
		{ "before", &r->before },
		{ "after", &r->after },
		{ "max_matches", &r->max_matches },
		{ "max_per_file", &r->max_per_file },
		{ "max_line_bytes", &r->max_line_bytes },
		{ "max_bytes", &r->max_bytes },
	};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (strcmp(name, numbers[i].name) == 0) {
			*numbers[i].number = number;
			return true;
		}
	if (strcmp(name, "threads") == 0)
		r->threads = (unsigned)number;
	else if (strcmp(name, "timeout_ms") == 0)
		r->timeout_ms = (unsigned)number;
	else if (strcmp(name, "output") == 0)
		r->output = (enum search_output)number;
	else if (strcmp(name, "cases") == 0)
		r->match.cases = (enum case_mode)number;
	else
		return false;
	return true;
}

static void set(struct options *o, char *option)
{
	char *value = strchr(option, '=');

	if (!value)
		exit(2);
	*value++ = '\0';
	if (strcmp(option, "include") == 0)
		add(o->include, &o->request.include_count, value);
	else if (strcmp(option, "exclude") == 0)
		add(o->exclude, &o->request.exclude_count, value);
	else if (strcmp(option, "type") == 0)
		add(o->types, &o->request.type_count, value);
	else if (strcmp(option, "ignore_file") == 0)
		add(o->ignore, &o->request.rules.ignore_file_count, value);
	else if (!set_flag(o, option, value) && !set_number(o, option, value))
		exit(2);
}

static void print_file(const struct file_match *file)
{
	char hex[SHA256_HEX_SIZE] = "-";

	if (file->hashed)
		sha256_hex(&file->sha256, hex);
	printf("F %s %zu %d %s\n", file->path, file->matches, file->more, hex);
	for (size_t i = 0; i < file->line_count; i++) {
		const struct search_line *line = &file->lines[i];

		printf("L %zu %s%s %.*s\n", line->number,
		       line->starts_match ? "m" : line->match ? "+" : "c", line->cut ? "!" : "",
		       (int)line->text.len, line->text.data);
	}
}

static void print_result(const struct search_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		print_file(&result->files[i]);
	printf("= %zu %d %d %zu %zu %s\n", result->matches, result->more, result->timed_out,
	       result->searched, result->unreadable, result->from_cache ? "warm" : "cold");
}

static int run(const struct workspace *ws, const struct options *o)
{
	struct search_cache *cache = o->twice ? search_cache_new(ws, &(struct search_cache_options){ 0 }) : NULL;
	struct search_result result = { 0 };
	struct err err = ERR_INIT;
	bool good = search(ws, cache, &o->request, &result, &err);

	if (good && cache) {
		search_result_release(&result);
		search_cache_settle(cache, SETTLE_MS);
		good = search(ws, cache, &o->request, &result, &err);
	}
	if (good)
		print_result(&result);
	else
		printf("%s\n", err_name(err.code));
	search_result_release(&result);
	search_cache_free(cache);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct workspace *ws = NULL;
	struct err err = ERR_INIT;
	int code;

	if (argc < 4)
		return 2;
	o.request.path = argv[2];
	o.request.match.pattern = span_str(argv[3]);
	o.request.include = o.include;
	o.request.exclude = o.exclude;
	o.request.types = o.types;
	o.request.rules.ignore_files = o.ignore;
	for (int i = 4; i < argc; i++)
		set(&o, argv[i]);
	if (!workspace_open((const char *const[]){ argv[1] }, 1, &ws, &err)) {
		printf("%s\n", err_name(err.code));
		return 1;
	}
	code = run(ws, &o);
	workspace_free(ws);
	return code;
}
