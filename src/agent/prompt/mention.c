/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt/mention.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

static bool ends_path(struct span prompt, size_t at)
{
	char c = prompt.data[at];
	char next = at + 1 < prompt.len ? prompt.data[at + 1] : ' ';

	if (isspace((unsigned char)c) || strchr(",;!?()[]{}", c))
		return true;
	return c == '.' && isspace((unsigned char)next);
}

static bool may_precede(struct span prompt, size_t at)
{
	unsigned char c;

	if (at == 0)
		return true;
	c = (unsigned char)prompt.data[at - 1];
	return !isalnum(c) && c != '_' && c < 0x80;
}

/* Reads what follows an @ into `path`; returns its length. */
static size_t read_plain(struct span text, struct buf *path)
{
	size_t i = 0;

	while (i < text.len && text.data[i] && !ends_path(text, i)) {
		if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1])
			i++;
		buf_char(path, text.data[i++]);
	}
	return i;
}

/* Likewise of "..."; 0: the quotes are not closed on this line. */
static size_t read_quoted(struct span text, struct buf *path)
{
	for (size_t i = 1; i < text.len && text.data[i] && text.data[i] != '\n'; i++) {
		if (text.data[i] == '"')
			return i + 1;
		if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1])
			i++;
		buf_char(path, text.data[i]);
	}
	return 0;
}

/* Reads what stands at an @; the length of it, with the @. Without a path there is ret->path NULL: nothing, or
 * more than a path can be. That is passed over as one: it would be read again from each @ in it. */
static size_t read_mention(struct span prompt, size_t at, struct mention *ret)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	struct span rest = span_of(prompt.data + at + 1, prompt.len - at - 1);
	bool quoted = rest.len && rest.data[0] == '"';
	size_t len = quoted ? read_quoted(rest, &path) : read_plain(rest, &path);

	*ret = (struct mention){ .offset = at, .length = len + 1, .quoted = quoted };
	if (len && path.len && !path.overflowed)
		ret->path = mem_dup(path.data, path.len);
	return ret->length;
}

size_t mentions_find(struct span prompt, struct mention **ret)
{
	size_t count = 0, cap = 0;
	struct mention one;

	*ret = NULL;
	for (size_t i = 0; i < prompt.len && count < LIMIT_MENTIONS; i++) {
		if (prompt.data[i] == '\\') {
			i++;
			continue;
		}
		if (prompt.data[i] != '@' || !may_precede(prompt, i))
			continue;
		i += read_mention(prompt, i, &one) - 1;
		if (!one.path)
			continue;
		*ret = mem_grow(*ret, &cap, count + 1, sizeof(**ret));
		(*ret)[count++] = one;
	}
	return count;
}

void mentions_free(struct mention *mentions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(mentions[i].path);
	free(mentions);
}
