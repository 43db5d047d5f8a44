/* SPDX-License-Identifier: Apache-2.0 */
/* activate_skill: a skill's instructions handed to the model, and its folder opened for reading.
 *
 * What is handed over is the file as it is at that moment, with its hash in the result and so in
 * the session's record.  Marks in it are expanded as a custom command's are.  With "context: fork"
 * it is an agent's task, and the result is the agent's report.
 *
 * The user's own call of a skill, /NAME, is a call of this tool, too.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "agent/prompt/expand.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/unseen.h"
#include "data/json.h"

/* Freed with the set of tools. */
struct skill_tool {
	struct tool tool; /* first */
	struct host *host;
	bool offered;     /* there are skills for the model; else only the user calls it */
};

enum { LENT_WORD_MAX = 200 };

static const char description[] =
	"Returns the instructions of a skill and the list of its files. Call it before you begin a "
	"task that the skill's description fits, then follow the instructions. Read the files, and "
	"run the scripts among them, by the paths that are listed.";

static const char skill_arguments_schema[] =
	"{\"type\": \"object\", \"required\": [\"name\"], \"additionalProperties\": false,"
	" \"properties\": {"
	"\"name\": {\"type\": \"string\", \"description\": \"The skill's name.\"},"
	" \"arguments\": {\"type\": \"string\"}}}";

static const char skill_result_schema[] =
	"{\"type\": \"object\", \"oneOf\": ["
	"{\"type\": \"object\", \"required\": [\"output\", \"skill\", \"folder\", \"sha256\"],"
	" \"properties\": {\"output\": {\"type\": \"string\"}, \"skill\": {\"type\": \"string\"},"
	" \"folder\": {\"type\": \"string\"}, \"sha256\": {\"type\": \"string\"}}},"
	"{\"type\": \"object\", \"required\": [\"success\", \"message\", \"error\"],"
	" \"properties\": {\"success\": {\"const\": false}, \"message\": {\"type\": \"string\"},"
	" \"error\": {\"type\": \"object\"}}}]}";

/* While a prompt is under way, calls are the model's. */
static const struct skill *skill_called(const struct tool *tool, const json_t *arguments,
                                        struct err *err)
{
	const struct host *host = ((const struct skill_tool *)tool)->host;
	const char *name = json_string_value(json_object_get(arguments, "name"));
	const struct skill *skill = name ? skills_find(host->skills, name) : NULL;
	_cleanup_free_ char *missing = NULL;

	if (skill && skill->users_alone && host->prompting) {
		err_set(err, ERR_DENIED_BY_POLICY, "Only the user can call the skill \"%.100s\" "
		        "(disable-model-invocation).", skill->called);
		return NULL;
	}
	if (!skill) {
		missing = skills_missing(host->skills, name ? name : "");
		err_set(err, ERR_INVALID_ARGUMENT, "%s", missing);
	}
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

/* What its file allows counts if it is the user's or the project's: an extension's file allows
 * nothing, as its rules do not; and only as it was when the skill was found, since the model may
 * have written the file. */
static bool skill_lends(const struct skill *skill, const json_t *text)
{
	return !skill->extension &&
	       span_eq(json_span(json_object_get(text, "sha256")), span_str(skill->sha256));
}

/* What its file asks for, for the question. */
static void put_lent(struct buf *out, const struct skill *skill)
{
	const json_t *word;
	size_t i;

	if (skill->agent)
		buf_printf(out, "\nRuns as the agent: %s", skill->agent);
	json_array_foreach(skill->extension ? NULL : skill->allowed, i, word) {
		_cleanup_free_ char *shown = unseen_line(json_span(word), LENT_WORD_MAX);

		buf_printf(out, "%s%s", i ? ", " : "\nWithout a question, while it is active: ",
		           shown);
	}
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
	buf_printf(&out, "Skill: %s (%s%s)\nDescription: %s\nFolder: ", skill->called,
	           skill->project || skill->extension ? "of the " : "",
	           skill->project || skill->extension ? from : "yours",
	           json_string_value(json_object_get(text, "description")));
	name_line(&out, span_str(skill->folder));
	put_lent(&out, skill);
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

/* Who and what a result is about. */
static void set_skill(json_t *result, const struct skill *skill, const json_t *text)
{
	json_object_set_new(result, "skill", json_cstr(skill->called));
	json_object_set_new(result, "folder", json_name(skill->folder));
	json_object_set(result, "sha256", json_object_get(text, "sha256"));
}

static json_t *skill_result(const struct skill *skill, const json_t *text, struct span body)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	_cleanup_free_ char *from = skill_from(skill);
	json_t *result = json_object();

	buf_printf(&out, "<activated_skill name=\"%s\" from=\"%s\">\n<instructions>\n",
	           skill->called, from);
	put_skill_body(&out, body);
	buf_str(&out, "\n</instructions>\n<available_resources>\n");
	put_resources(&out, skill);
	buf_str(&out, "</available_resources>\n</activated_skill>");
	json_object_set_new(result, "output", json_text(buf_view(&out)));
	set_skill(result, skill, text);
	return result;
}

/* Its text with what the marks stand for. */
static bool skill_expand(struct host *host, const struct skill *skill, const json_t *text,
                         struct span arguments, struct buf *out, struct err *err)
{
	struct expand_text expanded = {
		.format = EXPAND_CLAUDE, .text = json_span(json_object_get(text, "body")),
		.arguments = arguments, .names = skill->arguments, .folder = skill->folder,
	};
	_cleanup_free_ char *problem = NULL;
	bool used;

	if (!host_expand_here(host, &expanded, out, &used, &problem))
		return err_set(err, ERR_TOOL_FAILED, "%s", problem);
	/* The user's words follow as the prompt. */
	if (!used && arguments.len && (host->prompting || skill->agent)) {
		buf_str(out, "\n\nARGUMENTS: ");
		buf_span(out, arguments);
	}
	return true;
}

/* context: fork. The agent is called as the model calls one. */
static json_t *skill_fork(struct host *host, const struct skill *skill, const json_t *text,
                          const struct buf *body)
{
	json_auto_t *arguments = json_pack(
		"{s:s, s:o}", "agent_name", agents_meant(host->agents, skill->agent), "prompt",
		json_text(buf_view(body)));
	json_t *result = agent_call_for_text(host->chat.agent, tool_name(TOOL_INVOKE_AGENT),
	                                     arguments);

	if (!tool_result_failed(result))
		set_skill(result, skill, text);
	return result;
}

/* A sub-agent's call: what the text runs would be the session's own, and agents call no agents. */
static bool skill_is_plain(const struct skill *skill, const json_t *text, struct err *err)
{
	const struct span body = json_span(json_object_get(text, "body"));

	if (!skill->agent && !(body.len && (memmem(body.data, body.len, "!`", 2) ||
	                                    memmem(body.data, body.len, "```!", 4))))
		return true;
	return err_set(err, ERR_DENIED_BY_POLICY, "The skill \"%s\" runs commands or an agent: an "
	               "agent cannot activate it.", skill->called);
}

static json_t *skill_run(struct session *session, const struct tool *tool,
                         const json_t *arguments)
{
	struct host *host = ((const struct skill_tool *)tool)->host;
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct err err = ERR_INIT;
	const struct skill *skill = skill_called(tool, arguments, &err);
	json_auto_t *text = NULL;

	if (!skill || !skill_read(skill, &text, &err) ||
	    (session->tools != host->chat.tools && !skill_is_plain(skill, text, &err)))
		return tool_failure(&err);
	/* The project's is in the workspace. */
	if (!skill->project)
		outputs_allow(host->chat.outputs, skill->folder);
	if (skill_lends(skill, text))
		host_lend(host, skill->allowed, host->prompting ? NULL : skill->model);
	if (!skill_expand(host, skill, text, json_span(json_object_get(arguments, "arguments")),
	                  &body, &err)) {
		host_lend_end(host);
		return tool_failure(&err);
	}
	return skill->agent ? skill_fork(host, skill, text, &body) :
	                      skill_result(skill, text, buf_view(&body));
}

static void skill_tool_free(struct tool *tool)
{
	free(tool);
}

static bool skill_tool_is_absent(const struct session *session)
{
	const struct tool *tool = tool_set_find(session->tools, tool_name(TOOL_ACTIVATE_SKILL));

	return tool && tool->run_as == skill_run && !((const struct skill_tool *)tool)->offered;
}

void host_open_skills(struct host *host)
{
	if (host->skills)
		return;
	host->skills = skills_discover(host->options.settings, host->options.local);
	host_warn_changed(host, "skills", "hasp skills list", host->skills->notices);
}

static bool skills_any_enabled(const struct skills *skills)
{
	for (size_t i = 0; i < skills->count; i++)
		if (!skills->at[i].disabled)
			return true;
	return false;
}

void host_add_skill_tool(struct host *host)
{
	struct skill_tool *own;
	struct err err = ERR_INIT;

	if (!skills_any_enabled(host->skills))
		return;
	own = mem_alloc(1, sizeof(*own));
	own->host = host;
	own->offered = skills_offered_count(host->skills) > 0;
	own->tool = (struct tool){
		.info = &tool_infos[TOOL_ACTIVATE_SKILL],
		.name = tool_name(TOOL_ACTIVATE_SKILL),
		.title = "Activate skill",
		.description = description,
		.arguments_schema = skill_arguments_schema,
		.absent = skill_tool_is_absent,
		.result_schema = skill_result_schema,
		.run_as = skill_run,
		.preview = skill_preview,
	};
	if (tool_set_add(host->chat.tools, &own->tool, skill_tool_free, &err))
		return;
	host_warn(host, err.message);
	skill_tool_free(&own->tool);
}

static bool is_skill_tool(void *data, const struct tool *tool)
{
	(void)data;
	return tool->run_as == skill_run;
}

bool host_renew_skill_tool(struct host *host)
{
	const struct tool *tool = tool_set_find(host->chat.tools, tool_name(TOOL_ACTIVATE_SKILL));
	const bool before = tool && tool->run_as == skill_run &&
	                    ((const struct skill_tool *)tool)->offered;

	tool_set_withdraw(host->chat.tools, is_skill_tool, NULL);
	host_add_skill_tool(host);
	return before != (skills_offered_count(host->skills) > 0);
}
