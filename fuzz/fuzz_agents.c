/* SPDX-License-Identifier: Apache-2.0 */
/* Any file as one that describes agents, of the user's or (its first byte is "p") of a project's:
 * names, limits and texts within their bounds, or a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "catalog/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_agent(const struct agent_definition *one)
{
	_cleanup_free_ char *facts = agent_facts(one);

	if (!one->name || !*one->name || strlen(one->name) > 64 || !one->sha256)
		abort();
	if (strlen(one->description) > LIMIT_AGENT_DESCRIPTION ||
	    !utf8_valid(span_str(one->description)) || strpbrk(one->description, "\r\n\033"))
		abort();
	if (!one->max_turns || one->max_turns > AGENT_TURNS_MAX || !one->timeout_ms ||
	    one->timeout_ms > 24 * 60 * 60000)
		abort();
	if (!one->prompt == !one->remote || (one->remote && one->servers))
		abort();
	if (agent_requires_allowance(one) && (!facts || strpbrk(facts, "\r\n\033")))
		abort();
	if (json_array_size(one->tools) > LIMIT_AGENT_TOOLS ||
	    json_array_size(one->without) > LIMIT_AGENT_TOOLS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool foreign = size && data[0] == 'p';
	const struct span text = span_skip(span_of((const char *)data, size), foreign ? 1 : 0);
	struct agents found = { .notices = json_array() };
	struct err err = ERR_INIT;

	if (!utf8_valid(text) || (text.len && memchr(text.data, 0, text.len))) {
		json_decref(found.notices);
		return 0;
	}
	if (!agents_file_read("/a.md", text, foreign ? AGENTS_PROJECT : AGENTS_USER, &found,
	                      &err) && (!err.code || !err.message[0] || found.count))
		abort();
	for (size_t i = 0; i < found.count; i++) {
		check_agent(&found.at[i]);
		catalog_agent_release(&found.at[i]);
	}
	free(found.at);
	json_decref(found.notices);
	return 0;
}
