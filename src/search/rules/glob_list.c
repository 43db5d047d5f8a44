/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rules/glob_list.h"

#include "base/mem.h"

/* The reader may have given many: says which one is wrong. */
static bool name_glob(const char *text, const struct err *inner, struct err *err)
{
	const size_t len = strlen(inner->message);

	return err_set(err, inner->code, "%.*s: \"%.200s\".", len ? (int)len - 1 : 0,
	               inner->message, text);
}

bool glob_list_add(struct glob_list *list, const char *const *texts, size_t count,
                   unsigned flags, bool whole_folders, struct err *err)
{
	size_t cap = list->count;

	if (count == 0)
		return true;
	list->globs = mem_grow(list->globs, &cap, list->count + count, sizeof(struct glob *));
	for (size_t i = 0; i < count; i++) {
		struct span text = span_str(texts[i]);
		struct err inner = ERR_INIT;

		if (whole_folders && text.len > 3 && span_ends(text, SPAN("/**")))
			text.len -= 3;
		if (!glob_compile(text, flags, &list->globs[list->count], &inner))
			return name_glob(texts[i], &inner, err);
		list->count++;
	}
	return true;
}

void glob_list_release(struct glob_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		glob_free(list->globs[i]);
	free(list->globs);
	*list = (struct glob_list){ 0 };
}

bool glob_list_match(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++)
		if (glob_match(list->globs[i], path))
			return true;
	return false;
}

bool glob_list_may_match_beneath(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++)
		if (glob_may_match_beneath(list->globs[i], path))
			return true;
	return false;
}
