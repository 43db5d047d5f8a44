/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a file is asked for, in words:
 *
 *     part    = item *( (";" / "," / blank) item )
 *     item    = "pages" ranges / "sheet" name [cells] / "range" cells / "cell" name /
 *               "table" name [rows] / "member" path / "line" number / flag
 *     flag    = "outline" / "text" / "formulas" / "strings" / "details" / "render"
 *
 * "page", "slides", "chapters", "messages" and their like are other words for "pages".  A name with
 * blanks stands in quotation marks; a path needs none: it goes to the end, to the next ";", or to
 * a "," before another item.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "read/read.h"

struct part_reader {
	char *at;      /* what is left, in a copy that is cut into words */
	struct derive_request *request;
	const char *part;
	struct err *err;
};

static bool part_gap(char c)
{
	return c && strchr(" \t\r\n,;", c);
}

static void part_skip_gap(struct part_reader *reader)
{
	while (part_gap(*reader->at))
		reader->at++;
}

/* The next word, ended by a NUL; quoted ones without their marks.  NULL: there is none. */
static char *part_word(struct part_reader *reader)
{
	char *word, quote;

	part_skip_gap(reader);
	word = reader->at;
	if (!*word)
		return NULL;
	quote = *word == '"' || *word == '\'' ? *word : '\0';
	if (quote) {
		char *end = strchr(++word, quote);

		reader->at = end ? end + 1 : word + strlen(word);
		if (end)
			*end = '\0';
		return word;
	}
	while (*reader->at && !part_gap(*reader->at))
		reader->at++;
	if (*reader->at)
		*reader->at++ = '\0';
	return word;
}

/* What the next word is, if it has only these characters; it is left where it is otherwise. */
static char *next_made_of(struct part_reader *reader, const char *characters)
{
	size_t len;

	part_skip_gap(reader);
	len = strspn(reader->at, characters);
	return len && (!reader->at[len] || part_gap(reader->at[len])) ? part_word(reader) : NULL;
}

static bool part_refuse(struct part_reader *reader, const char *what)
{
	return err_set(reader->err, ERR_INVALID_ARGUMENT,
	               "part \"%.200s\" %s. Parts are such as \"pages 3-5\", \"sheet Budget "
	               "A1:C20\", \"cell 4\", \"member a/b.txt\", \"table users 1-50\", "
	               "\"line 120\", \"outline\", \"text\", with formulas, strings, details or "
	               "render.", reader->part, what);
}

static bool part_name(struct part_reader *reader, const char **ret)
{
	*ret = part_word(reader);
	return *ret || part_refuse(reader, "ends before a name");
}

/* "3-5,8": the words that have digits, joined again. */
static bool take_pages(struct part_reader *reader)
{
	char *first, *end, *more;

	part_skip_gap(reader);
	first = next_made_of(reader, "0123456789-");
	if (!first)
		return part_refuse(reader, "has no page numbers");
	end = first + strlen(first);
	while ((more = next_made_of(reader, "0123456789-"))) {
		const size_t len = strlen(more);

		*end++ = ',';
		memmove(end, more, len + 1);
		end += len;
	}
	reader->request->pages = first;
	return true;
}

static bool take_sheet(struct part_reader *reader)
{
	static const char cells[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$"
				    "0123456789:";

	if (!part_name(reader, &reader->request->sheet))
		return false;
	part_skip_gap(reader);
	if (strchr(reader->at, ':'))
		reader->request->range = next_made_of(reader, cells);
	return true;
}

static bool take_cells(struct part_reader *reader)
{
	return part_name(reader, &reader->request->range);
}

static bool take_cell(struct part_reader *reader)
{
	return part_name(reader, &reader->request->cell);
}

static bool take_table(struct part_reader *reader)
{
	char *rows;

	if (!part_name(reader, &reader->request->table))
		return false;
	rows = next_made_of(reader, "0123456789-");
	if (rows)
		reader->request->range = rows;
	return true;
}

static bool take_line(struct part_reader *reader)
{
	const char *digits = next_made_of(reader, "0123456789");

	if (!digits || strlen(digits) > 15)
		return part_refuse(reader, "has no number of a line");
	reader->request->first_line = strtoull(digits, NULL, 10);
	return true;
}

static bool take_outline(struct part_reader *reader)
{
	reader->request->want = DERIVE_OUTLINE;
	return true;
}

static bool part_whole(struct part_reader *reader)
{
	reader->request->want = DERIVE_TEXT;
	return true;
}

static bool take_formulas(struct part_reader *reader)
{
	return reader->request->formulas = true;
}

static bool take_strings(struct part_reader *reader)
{
	return reader->request->strings = true;
}

static bool take_details(struct part_reader *reader)
{
	return reader->request->details = true;
}

static bool take_render(struct part_reader *reader)
{
	return reader->request->render = true;
}

static bool take_path(struct part_reader *reader);

static const struct part_keyword {
	const char *word;
	bool (*take)(struct part_reader *reader);
} part_words[] = {
	{ "pages", take_pages },       { "page", take_pages },       { "slides", take_pages },
	{ "slide", take_pages },       { "chapters", take_pages },   { "chapter", take_pages },
	{ "messages", take_pages },    { "message", take_pages },    { "sheet", take_sheet },
	{ "range", take_cells },       { "cell", take_cell },        { "table", take_table },
	{ "member", take_path },       { "attachment", take_path },  { "line", take_line },
	{ "lines", take_line },        { "outline", take_outline },  { "text", part_whole },
	{ "formulas", take_formulas }, { "strings", take_strings },  { "details", take_details },
	{ "render", take_render },
};

static const struct part_keyword *part_keyword(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(part_words); i++)
		if (strlen(part_words[i].word) == len &&
		    strncasecmp(word, part_words[i].word, len) == 0)
			return &part_words[i];
	return NULL;
}

/* Whether a comma ends a path: one of the words of parts follows. */
static bool part_follows(const char *after_comma)
{
	const char *word = after_comma + strspn(after_comma, " \t\r\n");
	const size_t len = strcspn(word, " \t\r\n,;");

	return word != after_comma && part_keyword(word, len);
}

static bool take_path(struct part_reader *reader)
{
	char *end;

	part_skip_gap(reader);
	if (*reader->at == '"' || *reader->at == '\'')
		return part_name(reader, &reader->request->member);
	reader->request->member = end = reader->at;
	while (*end && *end != ';' && !(*end == ',' && part_follows(end + 1)))
		end++;
	reader->at = *end ? end + 1 : end;
	*end = '\0';
	return *reader->request->member || part_refuse(reader, "ends before a path");
}

bool read_parse_part(const char *part, struct derive_request *request, char **ret_words,
                     struct err *err)
{
	_cleanup_free_ char *words = mem_strdup(part);
	struct part_reader reader = { .at = words, .request = request, .part = part, .err = err };
	const char *word;

	while ((word = part_word(&reader))) {
		const struct part_keyword *keyword = part_keyword(word, strlen(word));

		if (!keyword)
			return part_refuse(&reader, "has an unknown word");
		if (!keyword->take(&reader))
			return false;
	}
	*ret_words = mem_steal(&words);
	return true;
}
