/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's card (A2A 1.0, section 8): what it declares is what there is. */
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "data/json.h"

/* Both bindings of both versions; the one to prefer first. */
static json_t *card_interfaces(const struct a2a_server *server, const char *origin)
{
	static const struct {
		const char *binding, *version;
	} rows[] = {
		{ "JSONRPC", "1.0" }, { "HTTP+JSON", "1.0" }, { "JSONRPC", "0.3" },
		{ "HTTP+JSON", "0.3" },
	};
	const char *base = server->options->base_path ? server->options->base_path : "";
	_cleanup_free_ char *url = mem_printf("%s%s", origin, base);
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "url", url,
		                                      "protocolBinding", rows[i].binding,
		                                      "protocolVersion", rows[i].version));
	return list;
}

static json_t *card_skills(void)
{
	return json_pack(
		"[{s:s, s:s, s:s, s:[s,s,s], s:[s,s]}, {s:s, s:s, s:s, s:[s,s,s], s:[s,s]}]",
		"id", "answer", "name", "Answer questions about code", "description",
		"Reads and searches the files of a workspace, and explains what they do.", "tags",
		"code", "search", "review", "examples", "Where are retries of requests limited?",
		"Review the last change of src/parser.c.",
		"id", "edit", "name", "Change code", "description",
		"Edits files of a workspace where its user permits this caller to; the difference "
		"and the hashes of each file before and after are artifacts of the task.", "tags",
		"code", "edit", "patch", "examples",
		"Rename the function parse_line to line_parse.",
		"Make the tests of src/date pass.");
}

void a2a_card_extend(const struct a2a_server *server, json_t *card)
{
	json_t *skills = json_object_get(card, "skills");
	const char *const *folder = server->options->folders;

	if (server->options->context)
		json_array_append_new(json_object_get(json_object_get(card, "capabilities"),
		                                      "extensions"), a2a_runner_extension(server));
	for (size_t i = 0; folder && folder[i]; i++) {
		_cleanup_free_ char *id = mem_printf("workspace-%zu", i + 1);
		const char *slash = strrchr(folder[i], '/');
		json_t *skill = json_pack(
			"{s:s, s:o, s:o, s:[s]}", "id", id, "name",
			json_text(span_str(slash && slash[1] ? slash + 1 : folder[i])),
			"description", json_text(span_str(folder[i])), "tags", "workspace");

		json_array_append_new(skills, skill);
	}
}

json_t *a2a_card_make(struct a2a_server *server, const char *origin)
{
	json_t *card = json_pack(
		"{s:s, s:s, s:s, s:o, s:{s:b, s:b, s:b, s:[]}, s:[s,s,s,s], s:[s,s,s], s:o}",
		"name", "hasp", "description",
		"A coding agent that reads and edits the files of its workspaces, so that no edit "
		"lands on a file state that it has not seen.", "version", HASP_VERSION,
		"supportedInterfaces", card_interfaces(server, origin), "capabilities", "streaming",
		true, "pushNotifications", server->push != NULL, "extendedAgentCard",
		server->extended_card != NULL,
		"extensions", "defaultInputModes", "text/plain", "application/json", "image/png",
		"application/pdf", "defaultOutputModes", "text/plain", "text/x-diff",
		"application/json", "skills", card_skills());

	if (server->callers)
		a2a_callers_describe(server->callers, card);
	return card;
}
