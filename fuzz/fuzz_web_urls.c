/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a text are few, short, on one line, of the web, and stay what they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tool/builtin/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROMPT_MAX = 1 << 20 };

static void check(const char *url)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *same = web_url(span_str(url), &err), *host = web_host(url);

	if (!same || strcmp(same, url) != 0)
		abort();
	if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
		abort();
	if (!*host || strchr(host, '/') || strchr(host, '@'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf prompt = BUF_INIT(PROMPT_MAX);
	struct err err = ERR_INIT;
	struct span text = span_of((const char *)data, size);
	json_auto_t *urls = web_urls(text, &prompt, &err);

	if (!utf8_valid(text))
		return 0; /* such bytes are written with more letters, and are no address any more */
	if (!urls && err.code != ERR_INVALID_ARGUMENT)
		abort();
	if (json_array_size(urls) > WEB_URLS_MAX)
		abort();
	for (size_t i = 0; i < json_array_size(urls); i++)
		check(json_string_value(json_array_get(urls, i)));
	return 0;
}
