/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a git configuration that may be paths: one line each, shorter than a path. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "sandbox/plan/git_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_word(void *data, enum git_word kind, struct span word)
{
	(void)data;
	if (!word.len || word.len >= LIMIT_PATH_BYTES || !strchr("xsafhi?", kind))
		abort();
	for (size_t i = 0; i < word.len; i++) {
		if ((unsigned char)word.data[i] < ' ' || word.data[i] == 0x7f)
			abort();
	}
}

static bool take_item(void *data, const struct git_config_item *item)
{
	const struct git_value *row = git_value_find(item);

	(void)data;
	if (!row)
		return true;
	if (git_value_at(git_value_number(row)) != row)
		abort();
	git_value_words(row, git_value_text(row, item), take_word, NULL);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	git_config_read(span_of((const char *)data, size), take_item, NULL);
	return 0;
}
