/* SPDX-License-Identifier: Apache-2.0 */
/* A command line for --worker: never a crash, and words without quoting are what blanks part. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_plain(const char *text)
{
	return !strpbrk(text, "'\"\\[");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = mem_dup((const char *)data, size);
	_cleanup_free_ char *rest = mem_strdup(text);
	struct err err = ERR_INIT;
	char **words = NULL, *save = NULL;

	if (!command_words_split(text, &words, &err))
		return 0;
	if (is_plain(text)) {
		char *word = strtok_r(rest, " \t\r\n", &save);

		for (size_t i = 0; words[i]; i++, word = strtok_r(NULL, " \t\r\n", &save))
			if (!word || strcmp(word, words[i]) != 0)
				abort();
	}
	command_words_free(words);
	return 0;
}
