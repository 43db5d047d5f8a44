/* SPDX-License-Identifier: Apache-2.0 */
/* Two states of a git configuration, with a NUL between them: a state is no change of itself, and
 * of a harmless change nothing is left when the sections of branches and submodules are taken away;
 * of those, what is new is a branch's and has one of a few names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/git_config.h"
#include "sandbox/plan/git_change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_item(struct buf *out, const struct git_config_item *item)
{
	buf_span(out, item->section);
	buf_char(out, '\n');
	buf_span(out, item->subsection);
	buf_char(out, '\n');
	buf_span(out, item->name);
	buf_str(out, item->has_value ? "\n=" : "\n");
	buf_span(out, item->value);
	buf_char(out, '\0');
}

static bool is_changeable(const struct git_config_item *item)
{
	return item->subsection.len && (span_eq(item->section, SPAN("branch")) ||
	                                span_eq(item->section, SPAN("submodule")));
}

static bool put_fixed(void *data, const struct git_config_item *item)
{
	if (!is_changeable(item))
		put_item(data, item);
	return true;
}

static bool put_changeable(void *data, const struct git_config_item *item)
{
	if (is_changeable(item))
		put_item(data, item);
	return true;
}

/* One that is not among those before. */
static bool check_new(void *data, const struct git_config_item *item)
{
	static const char *const names[] = { "remote", "pushremote", "merge", "rebase",
		"description", "vscode-merge-base", "gh-merge-base" };
	const struct buf *before = data;
	_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_GUARD_FILE_BYTES * 2);

	if (!is_changeable(item))
		return true;
	put_item(&one, item);
	if (before->len && memmem(before->data, before->len, one.data, one.len))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (span_eq(item->section, SPAN("branch")) &&
		    span_eq(item->name, span_str(names[i])))
			return true;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf before = BUF_INIT(LIMIT_GUARD_FILE_BYTES * 2);
	_cleanup_buf_ struct buf after = BUF_INIT(LIMIT_GUARD_FILE_BYTES * 2);
	_cleanup_buf_ struct buf changeable = BUF_INIT(LIMIT_GUARD_FILE_BYTES * 2);
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	const size_t first = nul ? (size_t)(nul - data) : size;
	const struct span old = span_of((const char *)data, first);
	const struct span new = nul ? span_of((const char *)nul + 1, size - first - 1) : old;
	char keys[GIT_CHANGE_KEYS];
	enum git_change_kind kind = git_change_judge(old, old, keys);

	if (kind != GIT_CHANGE_NONE && (kind != GIT_CHANGE_REFUSED || !keys[0]))
		abort();
	kind = git_change_judge(old, new, keys);
	if ((kind == GIT_CHANGE_REFUSED) != (keys[0] != '\0'))
		abort();
	git_change_may_move(old, span_of(NULL, 0), true);
	if (kind == GIT_CHANGE_REFUSED)
		return 0;
	if (!git_config_read(old, put_fixed, &before) || !git_config_read(new, put_fixed, &after) ||
	    !span_eq(buf_view(&before), buf_view(&after)))
		abort();
	git_config_read(old, put_changeable, &changeable);
	git_config_read(new, check_new, &changeable);
	return 0;
}
