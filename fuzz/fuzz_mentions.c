/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt: what @ names in it stands there, in order, and is found again where it begins the prompt; a
 * path that is written behind an @ is the one that is read there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/prompt/prompt.h"
#include "base/buf.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* With the two characters that may have ended it. */
static void check_alone(struct span prompt, const struct mention *mention)
{
	struct span from = span_head(span_skip(prompt, mention->offset), mention->length + 2);
	struct mention *alone;
	size_t count = mentions_find(from, &alone);

	check(count >= 1 && alone[0].offset == 0 && alone[0].length == mention->length);
	check(strcmp(alone[0].path, mention->path) == 0 && alone[0].quoted == mention->quoted);
	mentions_free(alone, count);
}

static void check_put(struct span path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * LIMIT_PATH_BYTES);
	struct mention *mentions;

	for (size_t i = 0; i < path.len; i++)
		if ((unsigned char)path.data[i] < 0x20)
			return;
	if (!path.len || path.len >= LIMIT_PATH_BYTES)
		return;
	buf_char(&text, '@');
	mention_put_path(&text, path);
	buf_str(&text, " x");
	check(mentions_find(buf_view(&text), &mentions) >= 1);
	check(span_eq(span_str(mentions[0].path), path));
	mentions_free(mentions, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span prompt = span_of((const char *)data, size);
	struct mention *mentions;
	size_t count = mentions_find(prompt, &mentions), end = 0;

	check_put(prompt);

	check(count <= LIMIT_MENTIONS);
	for (size_t i = 0; i < count; i++) {
		check(mentions[i].offset >= end && mentions[i].length >= 2);
		end = mentions[i].offset + mentions[i].length;
		check(end <= size && prompt.data[mentions[i].offset] == '@');
		check(*mentions[i].path && strlen(mentions[i].path) < mentions[i].length);
		check_alone(prompt, &mentions[i]);
	}
	mentions_free(mentions, count);
	return 0;
}
