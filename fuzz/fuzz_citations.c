/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a provider says about sources, the text is whole in what comes out. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The characters of `part`, in their order, among those of `whole`. */
static bool is_among(const char *part, const char *whole)
{
	for (; *part; part++, whole++) {
		whole = strchr(whole, *part);
		if (!whole)
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grounded grounded = { 0 };
	struct err err = ERR_INIT;
	json_t *value, *text, *sources;
	const char *said;

	if (!json_parse(span_of((const char *)data, size), &value, &err))
		return 0;
	said = json_string_value(json_object_get(value, "text"));
	grounded.text = mem_strdup(said ? said : "");
	grounded.sources = json_incref(json_object_get(value, "sources"));
	text = web_citations_text(&grounded);
	sources = web_citations_sources(&grounded);
	if (!json_is_array(sources) || !is_among(grounded.text, json_string_value(text)))
		abort();
	json_decref(text);
	json_decref(sources);
	json_decref(value);
	services_grounded_release(&grounded);
	return 0;
}
