/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/names.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- what is shown --------------------------------------------------------------- */

/* The key of a name in a table: its letters' cases do not matter. The caller frees. */
static char *name_key(const char *name)
{
	char *key = mem_strdup(name);

	for (char *c = key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return key;
}

/* Takes the name if it is free. */
static bool take_free_name(json_t *used, char *name, char **ret)
{
	_cleanup_free_ char *key = name_key(name);

	if (json_object_get(used, key)) {
		free(name);
		return false;
	}
	json_object_set_new(used, key, json_true());
	*ret = name;
	return true;
}

/* Who has each short name first: {name: {"first": index, "shared": others of that rank have it}}. A
 * new reference. */
static json_t *names_holders(const struct catalog_name *names, size_t count)
{
	json_t *holders = json_object();

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *key = name_key(names[i].name);
		json_t *holder = json_object_get(holders, key);
		const json_int_t first = json_integer_value(json_object_get(holder, "first"));

		if (!holder)
			json_object_set_new(holders, key, json_pack("{s:I, s:b}", "first",
			                                            (json_int_t)i, "shared", 0));
		else if (names[i].of == CATALOG_OTHERS && names[first].of == CATALOG_OTHERS &&
		         strcasecmp(names[i].owner, names[first].owner) != 0)
			json_object_set_new(holder, "shared", json_true());
	}
	return holders;
}

void catalog_names_set(struct catalog_name *names, size_t count, bool (*taken)(struct span name))
{
	json_auto_t *holders = names_holders(names, count), *used = json_object();

	/* Those with the short name come first: no qualified one may be the same. */
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *key = name_key(names[i].name);
		const json_t *holder = json_object_get(holders, key);

		names[i].called = NULL;
		if (json_integer_value(json_object_get(holder, "first")) == (json_int_t)i &&
		    !json_is_true(json_object_get(holder, "shared")) &&
		    !(taken && taken(span_str(names[i].name))))
			take_free_name(used, mem_strdup(names[i].name), &names[i].called);
	}
	for (size_t i = 0; i < count; i++)
		if (!names[i].called &&
		    !take_free_name(used, mem_printf("%s:%s", names[i].owner, names[i].name),
		               &names[i].called) &&
		    names[i].kind)
			take_free_name(used, mem_printf("%s:%s", names[i].kind, names[i].name),
			          &names[i].called);
}

void catalog_names_release(struct catalog_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(names[i].called);
		names[i].called = NULL;
	}
}

/* ---- what is meant --------------------------------------------------------------- */

static bool span_is_name(struct span text, const char *name)
{
	return text.len == strlen(name) && strncasecmp(text.data, name, text.len) == 0;
}

static bool owner_is_named(const struct catalog_name *name, struct span owner)
{
	return span_is_name(owner, name->owner) ||
	       (name->kind && span_is_name(owner, name->kind)) ||
	       (name->of == CATALOG_PROJECT && span_is_name(owner, "workspace"));
}

/* "OWNER:NAME", "OWNER.NAME"; "OWNER:FOLDER:NAME", as Claude Code has agents in a plugin's
 * folders. */
static bool is_qualified(const struct catalog_name *name, struct span given)
{
	for (size_t i = 1; i + 1 < given.len; i++) {
		const struct span rest = span_skip(given, i + 1);

		if ((given.data[i] != ':' && given.data[i] != '.') ||
		    !owner_is_named(name, span_head(given, i)))
			continue;
		if (span_is_name(rest, name->name))
			return true;
		for (size_t k = rest.len; k-- > 0;)
			if (rest.data[k] == ':')
				return span_is_name(span_skip(rest, k + 1), name->name);
	}
	return false;
}

const struct catalog_name *catalog_names_find(const struct catalog_name *names, size_t count,
                                              struct span given, struct buf *ret_several)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].called && span_is_name(given, names[i].called))
			return &names[i];
	for (size_t i = 0; i < count; i++)
		if (is_qualified(&names[i], given))
			return &names[i];
	/* Several have the name, or a built-in command has taken it. */
	for (size_t i = 0; ret_several && i < count; i++)
		if (names[i].called && span_is_name(given, names[i].name))
			buf_printf(ret_several, "%s%s", ret_several->len ? ", " : "",
			           names[i].called);
	return NULL;
}
