/* SPDX-License-Identifier: Apache-2.0 */
/* activate_skill: a skill's instructions handed to the model, and its folder opened for reading.
 *
 * What is handed over is the file as it is at that moment, with its hash in the result and so in
 * the session's record.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"

/* Freed with the set of tools. */
struct skill_tool {
	struct tool tool; /* first */
	struct host *host;
	char *schema;     /* owned */
};

static const char description[] =
	"Returns the instructions of a skill and the list of its files. Call it before you begin a "
	"task that the skill's description fits, then follow the instructions. Read the files, and "
	"run the scripts among them, by the paths that are listed.";

static const char skill_result_schema[] =
	"{\"type\": \"object\", \"oneOf\": ["
	"{\"type\": \"object\", \"required\": [\"output\", \"skill\", \"folder\", \"sha256\"],"
	" \"properties\": {\"output\": {\"type\": \"string\"}, \"skill\": {\"type\": \"string\"},"
	" \"folder\": {\"type\": \"string\"}, \"sha256\": {\"type\": \"string\"}}},"
	"{\"type\": \"object\", \"required\": [\"success\", \"message\", \"error\"],"
	" \"properties\": {\"success\": {\"const\": false}, \"message\": {\"type\": \"string\"},"
	" \"error\": {\"type\": \"object\"}}}]}";

static const struct skill *skill_called(const struct tool *tool, const json_t *arguments,
                                        struct err *err)
{
	const struct skill_tool *own = (const struct skill_tool *)tool;
	const char *name = json_string_value(json_object_get(arguments, "name"));
	const struct skill *skill = name ? skills_find(own->host->skills, name) : NULL;

	if (!skill)
		err_set(err, ERR_INVALID_ARGUMENT, "Unknown skill: \"%.100s\"",
		        name ? name : "");
	return skill;
}

static void put_resources(struct buf *out, const struct skill *skill)
{
	bool more;
	json_auto_t *files = skill_resources(skill, &more);
	size_t i;
	json_t *file;

	if (!json_array_size(files))
		buf_str(out, "(none)\n");
	json_array_foreach(files, i, file) {
		_cleanup_free_ char *path = mem_printf("%s/%s", skill->folder,
		                                       json_string_value(file));

		name_line(out, span_str(path));
		buf_char(out, '\n');
	}
	if (more)
		buf_str(out, "(and more)\n");
}

/* The preview shown with the question. */
static char *skill_preview(struct session *session, const struct tool *tool,
                           const json_t *arguments, struct err *err)
{
	const struct skill *skill = skill_called(tool, arguments, err);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ char *from = skill ? skill_from(skill) : NULL;
	json_auto_t *text = NULL;

	(void)session;
	if (!skill || !skill_read(skill, &text, err))
		return NULL;
	buf_printf(&out, "Skill: %s (%s%s)\nDescription: %s\nFolder: ", skill->name,
	           skill->project || skill->extension ? "of the " : "",
	           skill->project || skill->extension ? from : "yours",
	           json_string_value(json_object_get(text, "description")));
	name_line(&out, span_str(skill->folder));
	buf_str(&out, "\nFiles that the model may read:\n");
	put_resources(&out, skill);
	return mem_dup(out.data, out.len);
}

/* The instructions must not end the element that they stand in. */
static void put_skill_body(struct buf *out, struct span body)
{
	static const struct span end = { "</", 2 };

	while (body.len) {
		const char *at = memmem(body.data, body.len, end.data, end.len);
		size_t len = at ? (size_t)(at - body.data) : body.len;
		struct span word = span_skip(body, len + end.len);

		buf_span(out, span_head(body, len));
		if (at)
			buf_str(out, span_starts(word, SPAN("activated_skill")) ||
			                             span_starts(word, SPAN("instructions")) ?
			                     "<\\/" : "</");
		body = word;
	}
}

static json_t *skill_result(const struct skill *skill, const json_t *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ char *from = skill_from(skill);
	json_t *result = json_object();

	buf_printf(&out, "<activated_skill name=\"%s\" from=\"%s\">\n<instructions>\n",
	           skill->name, from);
	put_skill_body(&out, json_span(json_object_get(text, "body")));
	buf_str(&out, "\n</instructions>\n<available_resources>\n");
	put_resources(&out, skill);
	buf_str(&out, "</available_resources>\n</activated_skill>");
	json_object_set_new(result, "output", json_text(buf_view(&out)));
	json_object_set_new(result, "skill", json_cstr(skill->name));
	json_object_set_new(result, "folder", json_name(skill->folder));
	json_object_set(result, "sha256", json_object_get(text, "sha256"));
	return result;
}

static json_t *skill_run(struct session *session, const struct tool *tool,
                         const json_t *arguments)
{
	const struct skill_tool *own = (const struct skill_tool *)tool;
	struct err err = ERR_INIT;
	const struct skill *skill = skill_called(tool, arguments, &err);
	json_auto_t *text = NULL;

	(void)session;
	if (!skill || !skill_read(skill, &text, &err))
		return tool_failure(&err);
	/* The project's is in the workspace. */
	if (!skill->project)
		outputs_allow(own->host->chat.outputs, skill->folder);
	return skill_result(skill, text);
}

static void skill_tool_free(struct tool *tool)
{
	free(((struct skill_tool *)tool)->schema);
	free(tool);
}

static char *skill_schema(const struct skills *skills)
{
	json_auto_t *names = json_array(), *schema = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	for (size_t i = 0; i < skills->count; i++)
		if (!skills->at[i].disabled)
			json_array_append_new(names, json_cstr(skills->at[i].name));
	schema = json_pack("{s:s, s:[s], s:b, s:{s:{s:s, s:O, s:s}}}", "type", "object",
	                   "required", "name", "additionalProperties", 0, "properties", "name",
	                   "type", "string", "enum", names, "description",
	                   "The skill's name.");
	json_print(&out, schema, 0);
	return mem_dup(out.data, out.len);
}

void host_open_skills(struct host *host)
{
	if (host->skills)
		return;
	host->skills = skills_discover(host->options.settings, host->options.local);
	host_warn_all(host, host->skills->notices);
}

void host_add_skill_tool(struct host *host)
{
	struct skill_tool *own;
	struct err err = ERR_INIT;

	if (!skills_enabled_count(host->skills))
		return;
	own = mem_alloc(1, sizeof(*own));
	own->host = host;
	own->schema = skill_schema(host->skills);
	own->tool = (struct tool){
		.info = &tool_infos[TOOL_ACTIVATE_SKILL],
		.name = tool_name(TOOL_ACTIVATE_SKILL),
		.title = "Activate skill",
		.description = description,
		.arguments_schema = own->schema,
		.result_schema = skill_result_schema,
		.run_as = skill_run,
		.preview = skill_preview,
	};
	if (tool_set_add(host->chat.tools, &own->tool, skill_tool_free, &err))
		return;
	host_warn(host, err.message);
	skill_tool_free(&own->tool);
}

/* What to do about the tool that there is. */
struct skill_tool_renewal {
	const char *schema; /* that it should have; NULL: there should be none */
	bool same;          /* it has */
};

static bool skill_tool_is_outdated(void *data, const struct tool *tool)
{
	struct skill_tool_renewal *renewal = data;

	if (tool->run_as != skill_run)
		return false;
	renewal->same = renewal->schema && strcmp(tool->arguments_schema, renewal->schema) == 0;
	return !renewal->same;
}

bool host_renew_skill_tool(struct host *host)
{
	const bool any = skills_enabled_count(host->skills) > 0;
	_cleanup_free_ char *schema = any ? skill_schema(host->skills) : NULL;
	struct skill_tool_renewal renewal = { .schema = schema };
	const size_t withdrawn = tool_set_withdraw(host->chat.tools, skill_tool_is_outdated,
	                                           &renewal);

	if (renewal.same)
		return false;
	host_add_skill_tool(host);
	return withdrawn || any;
}
