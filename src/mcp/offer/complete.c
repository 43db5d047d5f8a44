/* SPDX-License-Identifier: Apache-2.0 */
/* completion/complete: paths, for the resource template and for prompts.
 *
 * First what is in the folder that is being typed; then, for a bare name, files anywhere whose
 * names have it in them.  Prompts take paths relative to the first root; the template takes
 * absolute ones without their first slash.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/offer/internal.h"

enum { VALUES_MAX = 100 }; /* the protocol's */

struct completion {
	struct provider *provider;
	bool template;    /* absolute, without the first slash */
	json_t *values;   /* array */
	size_t total;
};

/* The template's values are parts of URIs, which have bytes that are not UTF-8 only as escapes of
 * their own: a client that escapes what we show of such a name asks for another file, so it is left out. */
static void add_value(struct completion *completion, const char *value)
{
	if (completion->template && !utf8_valid(span_str(value)))
		return;
	completion->total++;
	if (json_array_size(completion->values) < VALUES_MAX)
		json_array_append_new(completion->values,
		                      completion->template ? json_cstr(value) : json_name(value));
}

/* One entry beneath `folder`, which was typed as `typed` (with its last slash). */
static void add_entry(struct completion *completion, const char *typed, const char *folder,
                      const struct walk_entry *entry)
{
	const char *slash = entry->kind == ENTRY_FOLDER ? "/" : "";
	_cleanup_free_ char *value =
		completion->template ? mem_printf("%s/%s%s", strcmp(folder, "/") ? folder : "",
	                                          entry->path, slash) :
	                               mem_printf("%s%s%s", typed, entry->path, slash);

	add_value(completion, completion->template ? value + 1 : value);
}

/* What is in the folder `path` and begins with `prefix`. */
static void complete_in(struct completion *completion, const char *typed, const char *path,
                        const char *prefix)
{
	struct walk_request request = { .path = *path ? path : "." };
	struct walk_result walk = { 0 };
	struct err ignored = ERR_INIT;

	if (!completion->provider->ops->walk(completion->provider, &request, &walk, &ignored))
		return;
	for (size_t i = 0; i < walk.count; i++)
		if (strncmp(walk.entries[i].path, prefix, strlen(prefix)) == 0)
			add_entry(completion, typed, walk.folder, &walk.entries[i]);
	walk_result_release(&walk);
}

static bool is_plain_name(const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	return *name && !name[strspn(name, plain)];
}

/* Files anywhere with the name in theirs, but those that complete_in has found. */
static void complete_anywhere(struct completion *completion, const char *name)
{
	_cleanup_free_ char *glob = mem_printf("*%s*", name);
	const char *include = glob;
	struct walk_request request = { .path = ".", .recursive = true, .include = &include,
		.include_count = 1, .ignore_case = true, .max_entries = 10 * VALUES_MAX };
	struct walk_result walk = { 0 };
	struct err ignored = ERR_INIT;

	if (!completion->provider->ops->walk(completion->provider, &request, &walk, &ignored))
		return;
	for (size_t i = 0; i < walk.count; i++)
		if (strchr(walk.entries[i].path, '/') ||
		    strncmp(walk.entries[i].path, name, strlen(name)) != 0)
			add_entry(completion, "", walk.folder, &walk.entries[i]);
	walk_result_release(&walk);
}

/* Whether an absolute path is a root, beneath one, or on the way to one. */
static bool concerns_root(struct provider *provider, const char *path, bool *ret_above)
{
	const char *root;

	*ret_above = false;
	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++) {
		size_t len = strlen(root), typed = strlen(path);

		if (strncmp(path, root, len) == 0 && (path[len] == '/' || len == 1))
			return true;
		if (typed <= len && strncmp(path, root, typed) == 0)
			*ret_above = true;
	}
	return false;
}

/* The roots that the path is on the way to. */
static void complete_roots(struct completion *completion, const char *path)
{
	const char *root;

	for (size_t i = 0; (root = completion->provider->ops->root(completion->provider, i)); i++) {
		_cleanup_free_ char *value = mem_printf("%s/", root);

		if (strncmp(root, path, strlen(path)) == 0)
			add_value(completion, completion->template ? value + 1 : value);
	}
}

static void complete_path(struct completion *completion, const char *value)
{
	_cleanup_free_ char *absolute = mem_printf("/%s", value);
	bool above, beneath = concerns_root(completion->provider,
	                                    completion->template ? absolute : value, &above);
	const char *path = completion->template && beneath ? absolute : value;
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *typed = mem_dup(path, slash ? (size_t)(slash - path) + 1 : 0);

	/* "", too, is on the way to a root, but a name to begin with is likelier. */
	if (above && !beneath && *value)
		complete_roots(completion, completion->template ? absolute : value);
	complete_in(completion, typed, typed, slash ? slash + 1 : path);
	if (!slash && is_plain_name(value))
		complete_anywhere(completion, value);
}

/* Whether the argument that is completed is a path. */
static bool wants_path(const json_t *ref, const json_t *argument, bool *ret_template)
{
	struct span type = json_span(json_object_get(ref, "type"));

	*ret_template = span_eq(type, SPAN("ref/resource"));
	return span_eq(json_span(json_object_get(argument, "name")), SPAN("path"));
}

void complete_argument(struct mcp_call *call, void *serve)
{
	const json_t *params = mcp_call_params(call);
	const json_t *argument = json_object_get(params, "argument");
	struct span value = json_span(json_object_get(argument, "value"));
	struct completion completion = { .values = json_array() };
	struct opened *opened;
	bool usable = value.len <= LIMIT_PATH_BYTES && (!value.len ||
	                                                !memchr(value.data, '\0', value.len));

	(void)serve;
	if (usable && wants_path(json_object_get(params, "ref"), argument, &completion.template)) {
		opened = conversation_open(mcp_call_session(call), call);
		completion.provider = opened->provider;
		_cleanup_free_ char *typed = completion.template ?
			mem_dup(value.data ? value.data : "", value.len) :
			name_of(value.data ? value.data : "");

		complete_path(&completion, typed);
		opened_put(opened);
	}
	mcp_call_result(call, json_pack("{s:{s:o, s:I, s:b}}", "completion", "values",
	                                completion.values, "total", (json_int_t)completion.total,
	                                "hasMore", completion.total > VALUES_MAX));
}
