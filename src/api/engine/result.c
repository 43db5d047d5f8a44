/* SPDX-License-Identifier: Apache-2.0 */
/* Results of edits, as programs see them. */
#include <stdlib.h>

#include "api/engine/internal.h"
#include "base/mem.h"

struct item {
	struct change_result *inside; /* borrowed from the result's array */
	hasp_error error;
	char sha256[SHA256_HEX_SIZE]; /* "" when unknown */
	hasp_hunk *hunks;             /* owned */
	hasp_failure failure;
	hasp_candidate candidates[ARRAY_LEN(((struct patch_failure *)0)->candidates)];
	bool diff_failed;
};

struct hasp_result {
	struct change_result *changes; /* owned */
	struct item *items;            /* owned */
	size_t count;
};

static void fill_hunks(struct item *item)
{
	const struct change_result *inside = item->inside;

	item->hunks = mem_alloc(inside->hunk_count, sizeof(*item->hunks));
	for (size_t i = 0; i < inside->hunk_count; i++) {
		const struct patch_hunk_report *report = &inside->hunks[i];

		item->hunks[i] = (hasp_hunk){
			.stated_line = report->stated_line,
			.line = report->line,
			.lines = report->lines,
			.added = report->added,
			.removed = report->removed,
			.match = patch_match_name(report->match),
			.settled = patch_settled_name(report->settled),
		};
	}
}

static void fill_failure(struct item *item)
{
	const struct patch_failure *failure = &item->inside->failure;
	enum err_code code = item->inside->err.code;

	/* NO_MATCH is also the failure of an update, which has no hunks. */
	item->diff_failed = code == ERR_INVALID_DIFF || code == ERR_AMBIGUOUS_DIFF ||
	                    (code == ERR_NO_MATCH && failure->hunk_count);
	for (size_t i = 0; i < failure->candidate_count; i++) {
		item->candidates[i].line = failure->candidates[i].line;
		item->candidates[i].lines_equal = failure->candidates[i].lines_equal;
	}
	item->failure = (hasp_failure){
		.hunk = failure->hunk,
		.hunk_count = failure->hunk_count,
		.stated_line = failure->stated_line,
		.diff_line = failure->diff_line,
		.expected = failure->expected,
		.found = failure->found,
		.found_line = failure->found_line,
		.candidates = item->candidates,
		.candidate_count = failure->candidate_count,
		.candidates_total = failure->candidates_total,
	};
}

hasp_result *lib_result_new(struct change_result *changes, size_t count)
{
	hasp_result *result = mem_alloc(1, sizeof(*result));

	result->changes = changes;
	result->items = mem_alloc(count, sizeof(*result->items));
	result->count = count;
	for (size_t i = 0; i < count; i++) {
		struct item *item = &result->items[i];

		item->inside = &changes[i];
		if (!changes[i].done)
			lib_error(&changes[i].err, &item->error);
		if (changes[i].state_known)
			sha256_hex(&changes[i].state.sha256, item->sha256);
		fill_hunks(item);
		fill_failure(item);
	}
	return result;
}

void hasp_result_free(hasp_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++) {
		free(result->items[i].hunks);
		change_result_release(&result->changes[i]);
	}
	free(result->items);
	free(result->changes);
	free(result);
}

/* ---- accessors ---------------------------------------------------------- */

static const struct change_result *inside(const hasp_result *result, size_t i)
{
	return result->items[i].inside;
}

size_t hasp_result_count(const hasp_result *result)
{
	return result->count;
}

bool hasp_result_done(const hasp_result *result, size_t i)
{
	return inside(result, i)->done;
}

const hasp_error *hasp_result_error(const hasp_result *result, size_t i)
{
	return &result->items[i].error;
}

const char *hasp_result_path(const hasp_result *result, size_t i)
{
	return inside(result, i)->state.path ? inside(result, i)->state.path : "";
}

bool hasp_result_exists(const hasp_result *result, size_t i)
{
	return inside(result, i)->state_known && inside(result, i)->state.exists;
}

const char *hasp_result_sha256(const hasp_result *result, size_t i)
{
	return result->items[i].sha256;
}

size_t hasp_result_size(const hasp_result *result, size_t i)
{
	return inside(result, i)->state.size;
}

static const char *buf_text(const struct buf *buf, size_t *ret_len)
{
	if (ret_len)
		*ret_len = buf->len;
	return buf->data ? buf->data : "";
}

const char *hasp_result_text(const hasp_result *result, size_t i, size_t *ret_len)
{
	if (inside(result, i)->content_is_text)
		return buf_text(&inside(result, i)->content, ret_len);
	if (ret_len)
		*ret_len = 0;
	return NULL;
}

const char *hasp_result_diff(const hasp_result *result, size_t i, size_t *ret_len)
{
	return buf_text(&inside(result, i)->diff, ret_len);
}

bool hasp_result_created(const hasp_result *result, size_t i)
{
	return inside(result, i)->created;
}

size_t hasp_result_lines_added(const hasp_result *result, size_t i)
{
	return inside(result, i)->lines_added;
}

size_t hasp_result_lines_removed(const hasp_result *result, size_t i)
{
	return inside(result, i)->lines_removed;
}

size_t hasp_result_replaced(const hasp_result *result, size_t i)
{
	return inside(result, i)->replaced;
}

size_t hasp_result_hunk_count(const hasp_result *result, size_t i)
{
	return inside(result, i)->hunk_count;
}

const hasp_hunk *hasp_result_hunk(const hasp_result *result, size_t i, size_t hunk)
{
	return &result->items[i].hunks[hunk];
}

const hasp_failure *hasp_result_failure(const hasp_result *result, size_t i)
{
	return result->items[i].diff_failed ? &result->items[i].failure : NULL;
}
