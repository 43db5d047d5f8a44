/* SPDX-License-Identifier: Apache-2.0 */
/* mcp-server-enablement.json: which MCP servers the user disabled. */
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/private.h"
#include "data/json.h"

enum { ENABLEMENT_DEPTH = 8 };

static char *enablement_path(const struct home *home)
{
	return mem_printf("%s/mcp-server-enablement.json", home_gemini(home));
}

/* The name as it stands in the file. The caller frees. */
static char *server_id(const char *name)
{
	struct span text = span_str(name);
	char *id;

	while (text.len && strchr(" \t\r\n", text.data[0]))
		text = span_skip(text, 1);
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.len--;
	id = mem_dup(text.data, text.len);
	for (char *c = id; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	return id;
}

json_t *servers_disabled(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = enablement_path(home);
	struct err why = ERR_INIT;
	json_auto_t *all = home_object_read(path, ENABLEMENT_DEPTH, &why);
	json_t *disabled = json_array(), *state;
	const char *name;

	if (!all)
		err_set(err, why.code, "%s No MCP server is disabled until that is corrected.",
		        why.message);
	json_object_foreach(all, name, state)
		if (json_is_false(json_object_get(state, "enabled")))
			json_array_append_new(disabled, json_string(name));
	return disabled;
}

bool servers_disabled_has(const json_t *disabled, const char *name)
{
	_cleanup_free_ char *id = server_id(name);

	return json_lists(disabled, span_str(id));
}

bool servers_disabled_set(const struct home *home, const char *name, bool disable, struct err *err)
{
	_cleanup_free_ char *id = server_id(name), *path = NULL;
	_cleanup_free_ char *folder = home_make(home_user(home), ".gemini", err);
	_cleanup_lock_ char *lock = NULL;
	json_auto_t *all = NULL;

	if (!folder)
		return false;
	path = enablement_path(home);
	lock = home_lock_file(path, err);
	all = lock ? home_object_read(path, ENABLEMENT_DEPTH, err) : NULL;
	if (!all)
		return false;
	if (disable)
		json_object_set_new(all, id, json_pack("{s:b}", "enabled", false));
	else if (json_object_del(all, id) != 0)
		return true;
	return home_object_write(path, all, err);
}
