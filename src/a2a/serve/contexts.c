/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: whose they are, and in which workspace. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"

/* ---- contexts -------------------------------------------------------------------- */

static struct a2a_context **context_slot(struct a2a_tasks *tasks, const char *id)
{
	size_t hash = 5381;

	for (const char *at = id; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	return &tasks->contexts[hash % A2A_TABLE_SIZE];
}

struct a2a_context *a2a_context_find(struct a2a_server *server, const char *id)
{
	struct a2a_context *context = *context_slot(server->tasks, id);

	while (context && strcmp(context->id, id) != 0)
		context = context->next;
	return context;
}

struct a2a_context *a2a_context_add(struct a2a_server *server, const char *id,
                                    const char *folder, const char *caller_name)
{
	struct a2a_context **slot = context_slot(server->tasks, id);
	struct a2a_context *context = mem_alloc(1, sizeof(*context));

	*context = (struct a2a_context){ .next = *slot, .server = server, .id = mem_strdup(id),
		                         .folder = folder,
		                         .caller_name = mem_strdup(caller_name) };
	*slot = context;
	return context;
}

void a2a_context_free(struct a2a_context *context)
{
	json_decref(context->pending);
	a2a_caller_unref(context->caller);
	free(context->caller_name);
	free(context->id);
	free(context->file);
	free(context);
}

struct home *a2a_context_home(const struct a2a_server *server, const char *folder)
{
	for (size_t i = 0; server->options->folders[i]; i++)
		if (server->options->folders[i] == folder)
			return server->tasks->homes[i];
	return NULL;
}

/* ---- the workspace of a message -------------------------------------------------- */

static bool context_is_allowed(const struct a2a_caller *caller, const char *folder)
{
	return !caller->workspaces || json_lists(caller->workspaces, span_str(folder));
}

/* {"metadata": {"hasp": {"workspace"}}}, or what Gemini CLI's clients send: one of those that the
 * server has and the caller may use; none is named: the first of these. */
static const char *message_folder(const struct a2a_server *server,
                                  const struct a2a_caller *caller, const json_t *message,
                                  struct a2a_fault *fault)
{
	const json_t *hasp = json_object_get(json_object_get(message, "metadata"), "hasp");
	const json_t *path = json_object_get(a2a_content_settings(message), "workspacePath");
	const json_t *named = span_trim(json_span(path)).len ? path :
	                      json_object_get(hasp, "workspace");
	const char *const *folders = server->options->folders;

	for (size_t i = 0; folders[i]; i++)
		if (context_is_allowed(caller, folders[i]) &&
		    (!named || span_eq(json_span(named), span_str(folders[i]))))
			return folders[i];
	a2a_fault_set(fault, A2A_FAULT_PARAMS, named ? "This caller cannot use that workspace." :
	              "This caller has no workspace.");
	return NULL;
}

/* A client's own name for a context must be new, and no session of the user's. */
static bool context_is_new(const struct a2a_server *server, const char *id, const char *folder)
{
	struct home *home = a2a_context_home(server, folder);

	return record_id_is_valid(id) && !(home && home_find(home) && sessions_have(home, id));
}

struct a2a_context *a2a_context_of(struct a2a_server *server, struct a2a_caller *caller,
                                   const json_t *message, struct a2a_fault *fault)
{
	const char *id = json_string_value(json_object_get(message, "contextId"));
	struct a2a_context *context = id ? a2a_context_find(server, id) : NULL;
	_cleanup_free_ char *made = NULL;
	const char *folder;

	if (server->options->context && !context) {
		a2a_fault_set(fault, A2A_FAULT_PARAMS, "This agent has one context: %s.",
		              server->options->context);
		return NULL;
	}
	if (context && !strcmp(context->caller_name, caller->name) &&
	    context_is_allowed(caller, context->folder))
		return context;
	folder = message_folder(server, caller, message, fault);
	if (!folder)
		return NULL;
	if (context || (id && !context_is_new(server, id, folder))) {
		a2a_fault_set(fault, A2A_FAULT_PARAMS, "This caller cannot use that context.");
		return NULL;
	}
	made = id ? NULL : record_new_id();
	context = a2a_context_add(server, id ? id : made, folder, caller->name);
	context->caller = a2a_caller_ref(caller);
	return context;
}
