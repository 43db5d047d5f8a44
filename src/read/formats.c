/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and which of them a file is of. */
#include "read/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "read/query.h"
#include "read/sqlite_open.h"

#define MAGIC(at_, bytes_) { (at_), SPAN(bytes_) }

static const struct format formats[] = {
	{ .key = "database", .words = "an SQLite database", .extensions = "",
	  .magic = { MAGIC(0, "SQLite format 3") }, .query = true, .takes = "sql query range",
	  .load = sqlite_open_load, .read = query_sql },
	{ .key = "data", .words = "structured data", .extensions = "", .query = true,
	  .takes = "sql query range details", .load = query_data_load, .read = query_data_read },
	{ .key = "ipynb", .words = "a Jupyter notebook", .extensions = "ipynb", .takes = "cell",
	  .read = format_ipynb_read },
	{ .key = "html", .words = "an HTML page", .extensions = "html htm xhtml",
	  .source = true, .takes = "", .load = format_html_load, .read = format_html_read },
};

const struct format *format_at(size_t i)
{
	return i < ARRAY_LEN(formats) ? &formats[i] : NULL;
}

const struct format *format_by_key(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].key, key) == 0)
			return &formats[i];
	return NULL;
}

/* ---- which one ------------------------------------------------------------------------- */

/* Whether one of the space-separated words is `word`, in any case. */
static bool words_have(const char *words, struct span word)
{
	while (*words) {
		const size_t len = strcspn(words, " ");

		if (len == word.len && strncasecmp(words, word.data, len) == 0)
			return true;
		words += len + (words[len] == ' ');
	}
	return false;
}

/* Also ".tar.gz": the name ends with a point and one of the words. */
static bool has_ending(const struct format *format, const char *name)
{
	const char *slash = strrchr(name, '/');

	for (const char *dot = strchr(slash ? slash + 1 : name, '.'); dot;
	     dot = strchr(dot + 1, '.'))
		if (dot[1] && words_have(format->extensions, span_str(dot + 1)))
			return true;
	return false;
}

static bool has_magic(const struct format *format, struct span head)
{
	for (size_t i = 0; i < FORMAT_MAGICS && format->magic[i].bytes.len; i++)
		if (span_starts(span_skip(head, format->magic[i].at), format->magic[i].bytes))
			return true;
	return false;
}

/* Whether the content says so; `named`: its extension does. */
static bool format_fits(const struct format *format, struct span head, bool named)
{
	const bool has_own = format->magic[0].bytes.len;

	if (has_own && !has_magic(format, head))
		return false;
	if (format->sniff)
		return format->sniff(head);
	return has_own ? named || !format->by_name : named;
}

const struct format *format_find(struct span head, const char *name)
{
	const struct format *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		const struct format *format = &formats[i];
		const bool named = has_ending(format, name);

		if (format->query)
			continue;
		if ((named || (!format->by_name && !found)) && format_fits(format, head, named)) {
			found = format;
			if (named)
				break;
		}
	}
	return found;
}

const struct format *format_find_query(struct span head)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (formats[i].query && has_magic(&formats[i], head))
			return &formats[i];
	return format_by_key("data");
}

bool format_name_suggests(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (has_ending(&formats[i], name))
			return true;
	return false;
}

/* ---- parts ----------------------------------------------------------------------------- */

/* Members of a request that name a part, and how a sentence calls them. */
static bool request_has(const struct derive_request *request, const char *member)
{
	const struct {
		const char *name;
		bool there;
	} members[] = {
		{ "pages", request->pages },       { "sheet", request->sheet },
		{ "range", request->range },       { "cell", request->cell },
		{ "member", request->member },     { "table", request->table },
		{ "query", request->query },       { "sql", request->sql },
		{ "formulas", request->formulas }, { "strings", request->strings },
		{ "details", request->details },   { "render", request->render },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (strcmp(members[i].name, member) == 0)
			return members[i].there;
	return false;
}

static bool format_takes(const struct format *format, const struct derive_request *request,
                         struct err *err)
{
	static const char *const members[] = { "pages", "sheet", "range", "cell", "member",
		"table", "query", "sql", "formulas", "strings", "details", "render" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (!request_has(request, members[i]) ||
		    words_have(format->takes, span_str(members[i])))
			continue;
		if (!*format->takes)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "It is %s: it has no parts but \"outline\" and \"line N\", "
			               "so leave \"%s\" out.", format->words, members[i]);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is %s, of which \"%s\" cannot be asked for; these can: %s.",
		               format->words, members[i], format->takes);
	}
	return true;
}

/* ---- what came of it ------------------------------------------------------------------- */

/* Numbers of entries and of pictures' bytes are checked as they are added; so is the text. */
bool format_run(const struct format *format, const struct format_input *input,
                const struct derive_request *request, struct derive_result *ret, struct err *err)
{
	const size_t max = request->max_bytes ? request->max_bytes : LIMIT_DERIVE_TEXT;

	*ret = (struct derive_result){ .facts = json_object() };
	ret->text = (struct buf)BUF_INIT(max + 64);
	snprintf(ret->kind, sizeof(ret->kind), "%s", format->words);
	return format_takes(format, request, err) &&
	       format->read(input, request, ret, err);
}
