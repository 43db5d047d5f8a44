/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/denial.h"

#include "data/json.h"

/* Each byte of a path and of a rule may take several in a sentence, and there are few others. */
enum { SENTENCE_MAX = 16 << 10 };

static void set_if(json_t *object, const char *name, struct span text)
{
	if (text.len)
		json_object_set_new(object, name, json_text(text));
}

json_t *denial_json(const struct denial *denial)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(SENTENCE_MAX);
	_cleanup_buf_ struct buf remedy = BUF_INIT(SENTENCE_MAX);
	json_t *object = json_object();

	denial_sentence(denial, &sentence);
	denial_remedy(denial, &remedy);
	json_object_set_new(object, "kind", json_string(denial_kind_name(denial->kind)));
	json_object_set_new(object, "what", json_text(span_str(denial->what)));
	set_if(object, "rule", span_str(denial->rule));
	json_object_set_new(object, "reason", json_string(sandbox_reason_name(denial->reason)));
	json_object_set_new(object, "level", json_string(sandbox_level_name(denial->level)));
	set_if(object, "program", span_str(denial->program));
	if (denial->count > 1)
		json_object_set_new(object, "count", json_integer(denial->count));
	json_object_set_new(object, "message", json_text(buf_view(&sentence)));
	set_if(object, "how_to_allow", buf_view(&remedy));
	return object;
}
