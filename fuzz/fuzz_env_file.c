/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a .env file: names are names, values have an end and are no longer than the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *data, struct span name, const char *value)
{
	size_t size = *(size_t *)data;

	if (!name.len || strlen(value) + name.len > size || memchr(name.data, '=', name.len) ||
	    memchr(name.data, ' ', name.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + !size);

	memcpy(copy, data, size);
	env_file_parse(span_of(copy, size), take, &size);
	free(copy);
	return 0;
}
