/* SPDX-License-Identifier: Apache-2.0 */
/* What a model should do next after a search: only said where it is not plain. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/search_result.h"

enum { MESSAGE_MAX = 4096 };

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Whether somebody who writes this text has a regular expression in mind. */
static bool looks_like_regex(struct span pattern)
{
	static const char *const signs[] = { ".*", ".+", "|", "\\b", "\\d", "\\s", "\\w", "\\(",
		                             "\\.", "[^", "[a-", "[A-", "[0-", "(?" };

	if (span_starts(pattern, SPAN("^")) || span_ends(pattern, SPAN("$")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memmem(pattern.data, pattern.len, signs[i], strlen(signs[i])))
			return true;
	return false;
}

static void say_nothing_found(struct buf *out, const struct search_request *asked,
                              const struct search_result *found)
{
	buf_printf(out, "No match in %zu file%s.", found->searched, plural(found->searched));
	if (asked->match.literal && looks_like_regex(asked->match.pattern))
		buf_str(out, " The pattern was taken as literal text; with regex=true it is a "
		             "regular expression.");
	if (!found->searched)
		buf_str(out, " No file was searched: look at path, include, file_types and "
		             "no_ignore.");
}

/* The limit to raise for more: the first that was reached. */
static const char *limit_reached(const struct search_request *asked,
                                 const struct search_result *found, size_t shown)
{
	if (shown >= asked->max_matches)
		return "max_results";
	for (size_t i = 0; asked->max_per_file && i < found->count; i++)
		if (found->files[i].more)
			return "max_per_file";
	return "max_total_bytes";
}

static void say_more(struct buf *out, const struct search_request *asked, enum search_form form,
                     const struct search_result *found)
{
	const bool lines = form == FORM_LINES || form == FORM_DETAILED;
	const size_t shown = lines ? found->matches : found->count;

	buf_printf(out, "Shown: the first %zu %s%s", shown, lines ? "match" : "file",
	           lines && shown != 1 ? "es" : lines ? "" : plural(shown));
	if (lines)
		buf_printf(out, " (%zu file%s)", found->count, plural(found->count));
	buf_printf(out, "; there are more. For the rest: a narrower path or include, a more exact "
	                "pattern, %sor a higher %s.",
	           lines ? "output=counts for an overview, " : "",
	           limit_reached(asked, found, shown));
}

static bool any_is_cut(const struct search_result *found)
{
	for (size_t i = 0; i < found->count; i++)
		for (size_t j = 0; j < found->files[i].line_count; j++)
			if (found->files[i].lines[j].cut)
				return true;
	return false;
}

static void say_trouble(struct buf *out, const struct search_result *found)
{
	if (found->timed_out)
		buf_str(out, " The search took too long and ended before all files were searched; "
		             "narrow path or include.");
	if (found->too_hard_path)
		buf_printf(out, " The pattern takes too many steps in %s, which was left; write "
		                "it without nested repetition.",
		           found->too_hard_path);
	if (found->unreadable)
		buf_printf(out, " %zu file%s or folder%s could not be read.", found->unreadable,
		           plural(found->unreadable), plural(found->unreadable));
}

json_t *search_message(const struct search_request *asked, enum search_form form,
                       const struct search_result *found)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MESSAGE_MAX);

	if (!found->count)
		say_nothing_found(&out, asked, found);
	else if (found->more)
		say_more(&out, asked, form, found);
	if (any_is_cut(found))
		buf_printf(&out, "%sLines of more than %zu bytes are cut around the match "
		                 "(max_line_bytes).",
		           out.len ? " " : "", asked->max_line_bytes);
	say_trouble(&out, found);
	if (!out.len)
		return NULL;
	return json_text(span_trim(buf_view(&out)));
}
