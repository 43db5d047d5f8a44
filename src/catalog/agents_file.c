/* SPDX-License-Identifier: Apache-2.0 */
/* One file of agents: from its front matter to what hasp knows of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unseen.h"
#include "catalog/agents.h"
#include "catalog/frontmatter.h"
#include "catalog/private.h"
#include "config/servers.h"
#include "data/tools.h"
#include "data/warnings.h"

enum { NAME_MAX_BYTES = 64, DISPLAY_NAME_BYTES = 100, MODEL_BYTES = 200, MINUTES_MAX = 24 * 60,
       SERVERS_MAX = 16, FACTS_BYTES = 64 << 10, SERVER_FACTS_BYTES = 6000,
       AUTH_COMMAND_BYTES = 1000, AUTH_MEMBERS_MAX = 16 };

struct agent_definition catalog_agent_new(enum agents_from from)
{
	return (struct agent_definition){ .temperature = -1, .max_turns = AGENT_TURNS_DEFAULT,
		                          .timeout_ms = AGENT_MINUTES_DEFAULT * 60000,
		                          .from = from };
}

void catalog_agent_release(struct agent_definition *definition)
{
	free(definition->name);
	free(definition->called);
	free(definition->owner);
	free(definition->display_name);
	free(definition->description);
	free(definition->prompt);
	free(definition->model);
	free(definition->file);
	free(definition->sha256);
	json_decref(definition->remote);
	json_decref(definition->servers);
	json_decref(definition->tools);
	json_decref(definition->without);
	*definition = (struct agent_definition){ 0 };
}

static bool agent_name_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t len = strlen(name);

	return len && len <= NAME_MAX_BYTES && strspn(name, letters) == len;
}

/* "mcp__SERVER__TOOL" is Claude Code's way to write mcp_SERVER_TOOL, and "mcp__SERVER" all of the
 * server's. */
static json_t *tool_name_of_mcp(const char *word)
{
	const char *rest = word + strlen("mcp__"), *tool = strstr(rest, "__");
	_cleanup_free_ char *ours = tool ? mem_printf("mcp_%.*s_%s", (int)(tool - rest), rest,
	                                              tool + 2) :
	                                   mem_printf("mcp_%s_*", rest);

	return json_cstr(ours);
}

/* Adds a word of a list of tools, by the names that hasp has. */
static void add_tool_word(json_t *list, struct span text, bool restricts, const char *file,
                          json_t *notices)
{
	const struct span trimmed = span_trim(text);
	_cleanup_free_ char *word = NULL;

	if (!trimmed.len || json_array_size(list) > LIMIT_AGENT_TOOLS)
		return;
	if (json_array_size(list) == LIMIT_AGENT_TOOLS) {
		if (restricts) /* what is not read may be any tool */
			json_array_append_new(list, json_string("*"));
		return;
	}
	word = mem_dup(trimmed.data, trimmed.len);
	/* What is taken away is then the whole tool. */
	if (restricts)
		word[strcspn(word, "()")] = '\0';
	if (strpbrk(word, "()")) {
		/* What stands in the parentheses would be wider without them. */
		warnings_add_line(notices, "%s: the tool \"%.100s\" is left out: only whole tools "
		                  "can be named; what one may do, policies say.", file, word);
		return;
	}
	if (strncmp(word, "mcp__", 5) == 0)
		json_array_append_new(list, tool_name_of_mcp(word));
	else
		json_array_append_new(list, json_cstr(word));
}

/* Commas in parentheses are none. */
static void read_tool_words(json_t *list, struct span text, bool restricts, const char *file,
                            json_t *notices)
{
	while (text.len) {
		size_t len = 0;

		for (int depth = 0; len < text.len && (depth > 0 || text.data[len] != ','); len++)
			depth += (text.data[len] == '(') - (text.data[len] == ')');
		add_tool_word(list, span_head(text, len), restricts, file, notices);
		text = span_skip(text, len < text.len ? len + 1 : len);
	}
}

void catalog_agent_tools(json_t *list, struct span text, const char *file, json_t *notices)
{
	read_tool_words(list, text, /* restricts= */ false, file, notices);
}

/* NULL: the file says nothing about it. */
static json_t *read_tools(const json_t *value, bool restricts, const char *file, json_t *notices)
{
	json_t *list, *one;
	size_t i;

	if (!json_is_array(value) && !json_is_string(value))
		return NULL;
	list = json_array();
	if (json_is_string(value))
		read_tool_words(list, json_span(value), restricts, file, notices);
	json_array_foreach((json_t *)value, i, one)
		add_tool_word(list, json_span(one), restricts, file, notices);
	return list;
}

static bool is_list_of_tools(const json_t *value)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)value, i, word)
		if (!json_is_string(word))
			return false;
	return json_is_array(value) || json_is_string(value);
}

/* Whether no tool can be meant by the name. */
static bool tool_is_unknown(const char *name)
{
	return !strchr(name, '*') && strncmp(name, "mcp_", 4) && !strstr(name, "__") &&
	       strncmp(name, "discovered_tool_", 16) && !tool_info_find(name) &&
	       !tool_info_foreign(name);
}

/* What restricts must be understood: an agent with a wrong list would have more than its author
 * meant.  What gives is only reported. */
static bool lists_are_known(const struct agent_definition *definition,
                            const struct frontmatter *front, json_t *notices, struct err *err)
{
	static const char *const members[] = { "tools", "disallowedTools" };
	size_t i;
	json_t *word;

	for (i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *value = json_object_get(front->fields, members[i]);

		if (value && !json_is_null(value) && !is_list_of_tools(value))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "its %s must be a list, or names separated by commas.",
			               members[i]);
	}
	json_array_foreach(definition->without, i, word) {
		const char *name = json_string_value(word);
		const char *near = tool_info_nearest(name);

		if (tool_is_unknown(name))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "its disallowedTools name an unknown tool, \"%.100s\"%s%s%s",
			               name, near ? "; did you mean \"" : ".", near ? near : "",
			               near ? "\"?" : "");
	}
	json_array_foreach(definition->tools, i, word) {
		const char *name = json_string_value(word);
		const char *near = tool_info_nearest(name);

		if (tool_is_unknown(name))
			warnings_add_line(notices,
			                  "%s: its tools name an unknown tool, \"%.100s\"%s%s%s",
			                  definition->file, name, near ? "; did you mean \"" : ".",
			                  near ? near : "", near ? "\"?" : "");
	}
	return true;
}

static bool is_between(const json_t *value, double least, double most)
{
	const double number = json_number_value(value);

	return json_is_number(value) && isfinite(number) && number >= least && number <= most;
}

/* Minutes; fractions of one count. */
void catalog_agent_limits(struct agent_definition *definition, const json_t *turns,
                        const json_t *minutes)
{
	if (is_between(turns, 1, AGENT_TURNS_MAX))
		definition->max_turns = (unsigned)json_number_value(turns);
	else if (json_is_number(turns) && json_number_value(turns) > AGENT_TURNS_MAX)
		definition->max_turns = AGENT_TURNS_MAX;
	if (is_between(minutes, 0.001, MINUTES_MAX))
		definition->timeout_ms = (unsigned)(json_number_value(minutes) * 60000);
}

void catalog_agent_model(struct agent_definition *definition, const char *word)
{
	if (!word || !*word || strlen(word) > MODEL_BYTES)
		return;
	free(definition->model);
	definition->model = catalog_model_words(word);
}

/* Claude Code's field.  Less than what was asked for is not done in its place. */
static bool take_isolation(struct agent_definition *definition, const json_t *value,
                           struct err *err)
{
	const char *word = json_string_value(value);

	if (value && !json_is_null(value) && (!word || strcmp(word, "worktree") != 0))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its \"isolation\" is none that hasp has: \"worktree\".");
	if (word)
		definition->isolated = true;
	return true;
}

static json_t *field_either(const struct frontmatter *front, const char *name, const char *other)
{
	json_t *value = json_object_get(front->fields, name);

	return value ? value : json_object_get(front->fields, other);
}

/* Files of remote agents need not name their kind. */
static bool take_agent_kind(struct agent_definition *definition, const struct frontmatter *front,
                      struct err *err)
{
	_cleanup_free_ char *kind = frontmatter_text(front, "kind");
	const bool has_card = json_object_get(front->fields, "agent_card_url") ||
	                      json_object_get(front->fields, "agent_card_json");

	if (kind && strcmp(kind, "local") != 0 && strcmp(kind, "remote") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "agents of the kind \"%.40s\" are not supported.", kind);
	if (kind ? strcmp(kind, "remote") == 0 : has_card)
		definition->remote = json_object();
	return true;
}

char *agent_auth_command(const char *member, const json_t *value)
{
	/* Those that Gemini CLI runs commands for. */
	static const char *const members[] = { "key", "token", "username", "password", "value" };
	const struct span said = json_span(value);
	struct span command;

	if (said.len < 2 || said.data[0] != '!' || said.data[1] == '!')
		return NULL;
	command = span_trim(span_skip(said, 1));
	for (size_t i = 0; i < ARRAY_LEN(members) && command.len; i++)
		if (strcmp(members[i], member) == 0)
			return mem_dup(command.data, command.len);
	return NULL;
}

/* So that people can be shown all of it, in one line. */
static bool auth_check(const json_t *auth, struct err *err)
{
	const char *name;
	json_t *value;

	if (json_object_size(auth) > AUTH_MEMBERS_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT, "its \"auth\" has more than %d members.",
		               AUTH_MEMBERS_MAX);
	json_object_foreach((json_t *)auth, name, value) {
		_cleanup_free_ char *command = agent_auth_command(name, value);
		bool fine = !command || strlen(command) <= AUTH_COMMAND_BYTES;

		for (const char *c = command; c && *c; c++)
			fine = fine && (unsigned char)*c >= ' ' && *c != 0x7f;
		if (!fine)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "the command in its \"auth\" must be one line of at most %d "
			               "bytes.", AUTH_COMMAND_BYTES);
	}
	return true;
}

/* What a remote agent has besides. */
static bool take_remote(struct agent_definition *definition, const struct frontmatter *front,
                        struct err *err)
{
	json_t *url = json_object_get(front->fields, "agent_card_url");
	json_t *card = json_object_get(front->fields, "agent_card_json");
	json_t *auth = json_object_get(front->fields, "auth");

	if (!json_string_length(url) == !json_string_length(card))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "a remote agent has either \"agent_card_url\" or "
		               "\"agent_card_json\", a text.");
	if (strlen(json_string_value(url ? url : card)) != json_string_length(url ? url : card))
		return err_set(err, ERR_INVALID_ARGUMENT, "its card has a NUL character.");
	if (auth && !json_is_null(auth) && !json_is_object(auth))
		return err_set(err, ERR_INVALID_ARGUMENT, "its \"auth\" is no mapping.");
	if (!auth_check(auth, err))
		return false;
	json_object_set(definition->remote, url ? "card_url" : "card", url ? url : card);
	if (json_is_object(auth))
		json_object_set(definition->remote, "auth", auth);
	definition->timeout_ms = AGENT_MINUTES_REMOTE * 60000;
	catalog_agent_limits(definition, NULL, json_object_get(front->fields, "timeout_mins"));
	return true;
}

static bool take_names(struct agent_definition *definition, const struct frontmatter *front,
                       struct err *err)
{
	_cleanup_free_ char *name = frontmatter_text(front, "name");
	_cleanup_free_ char *description = frontmatter_text(front, "description");
	_cleanup_free_ char *display = frontmatter_text(front, "display_name");

	if (!name || !*name)
		return err_set(err, ERR_INVALID_ARGUMENT, "its front matter has no \"name\".");
	if (!agent_name_is_valid(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its name must be 1 to 64 letters, digits, \"-\" and \"_\".");
	if (!take_agent_kind(definition, front, err))
		return false;
	if (!definition->remote && (!description || span_is_blank(span_str(description))))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its front matter has no \"description\".");
	definition->name = mem_strdup(name);
	definition->description = unseen_line(
		span_trim(span_str(description ? description : "a remote agent")),
		LIMIT_AGENT_DESCRIPTION);
	definition->display_name = unseen_line(
		span_trim(span_str(display && *display ? display : name)), DISPLAY_NAME_BYTES);
	return true;
}

/* ---- what people are asked about ------------------------------------------------------ */

bool agent_requires_allowance(const struct agent_definition *definition)
{
	return (definition->remote || definition->servers) &&
	       (definition->from == AGENTS_PROJECT || definition->from == AGENTS_EXTENSION);
}

static char *remote_facts(const struct agent_definition *definition)
{
	const char *url = json_string_value(json_object_get(definition->remote, "card_url"));
	_cleanup_buf_ struct buf out = BUF_INIT(FACTS_BYTES);
	const char *name, *between = ", with the value of";
	json_t *value;

	buf_printf(&out, "%.500s", url ? url : "the address in its agent_card_json");
	json_object_foreach(json_object_get(definition->remote, "auth"), name, value) {
		const char *word = json_string_value(value);

		if (!word || word[0] != '$' || word[1] == '$')
			continue;
		buf_printf(&out, "%s %.100s", between, word);
		between = ",";
	}
	json_object_foreach(json_object_get(definition->remote, "auth"), name, value) {
		_cleanup_free_ char *command = agent_auth_command(name, value);

		if (command)
			buf_printf(&out, ", with what the command \"%s\" prints as its \"%s\"",
			           command, name);
	}
	return unseen_line(span_trim(buf_view(&out)), FACTS_BYTES);
}

/* Nothing of it is cut. */
static char *server_facts(const struct agent_definition *definition)
{
	_cleanup_buf_ struct buf out = BUF_INIT(SERVER_FACTS_BYTES);
	const char *name;
	json_t *entry;

	json_object_foreach(definition->servers, name, entry) {
		_cleanup_free_ char *question = servers_agent_question(entry);

		if (!question)
			return NULL;
		buf_printf(&out, "%sthe MCP server \"%s\" would %s", out.len ? "; " : "", name,
		           question);
	}
	return out.overflowed ? NULL : mem_dup(out.data ? out.data : "", out.len);
}

char *agent_facts(const struct agent_definition *definition)
{
	return definition->remote ? remote_facts(definition) : server_facts(definition);
}

/* ---- the agent's MCP servers --------------------------------------------------------- */

/* A name stands for a server of the session. */
static bool take_server(struct agent_definition *definition, const char *name, json_t *entry,
                        struct err *err)
{
	if (!servers_name_is_fine(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "the name of one of its MCP servers is none that hasp takes.");
	if (!entry || json_is_null(entry)) {
		if (definition->tools && json_array_size(definition->tools) < LIMIT_AGENT_TOOLS) {
			_cleanup_free_ char *all = mem_printf("mcp_%s_*", name);

			json_array_append_new(definition->tools, json_cstr(all));
		}
		return true;
	}
	if (!json_is_object(entry))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its MCP server \"%s\" is no mapping.", name);
	if (!definition->servers)
		definition->servers = json_object();
	if (json_object_size(definition->servers) >= SERVERS_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT, "it has more than %d MCP servers.",
		               SERVERS_MAX);
	json_object_set(definition->servers, name, entry);
	return true;
}

static bool take_server_mapping(struct agent_definition *definition, json_t *value,
                                struct err *err)
{
	const char *name;
	json_t *entry;

	json_object_foreach(value, name, entry)
		if (!take_server(definition, name, entry, err))
			return false;
	return true;
}

/* Gemini CLI's mapping, or Claude Code's list of mappings and names.  A stranger's must fit into
 * the question whether they may be started. */
static bool take_servers(struct agent_definition *definition, json_t *value, struct err *err)
{
	size_t i;
	json_t *one;

	if (value && !json_is_null(value) && !json_is_object(value) && !json_is_array(value))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "its \"mcp_servers\" is neither a mapping nor a list.");
	if (!take_server_mapping(definition, json_is_object(value) ? value : NULL, err))
		return false;
	json_array_foreach(value, i, one) {
		const char *name = json_string_value(one);

		if (name ? !take_server(definition, name, NULL, err) :
		           !take_server_mapping(definition, one, err))
			return false;
	}
	if (agent_requires_allowance(definition)) {
		_cleanup_free_ char *facts = agent_facts(definition);

		if (!facts)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "what its MCP servers would run is too long to be asked "
			               "about.");
	}
	return true;
}

static bool take_front(struct agent_definition *definition, const struct frontmatter *front,
                       json_t *notices, struct err *err)
{
	const json_t *temperature = json_object_get(front->fields, "temperature");
	_cleanup_free_ char *model = frontmatter_text(front, "model");

	if (!take_names(definition, front, err))
		return false;
	if (definition->remote)
		return take_remote(definition, front, err);
	if (definition->listed)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "only remote agents stand in lists.");
	if (span_is_blank(front->body))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "nothing follows its front matter: that would be its system "
		               "prompt.");
	definition->prompt = mem_dup(span_trim(front->body).data, span_trim(front->body).len);
	definition->tools = read_tools(json_object_get(front->fields, "tools"),
	                               /* restricts= */ false, definition->file, notices);
	definition->without = read_tools(json_object_get(front->fields, "disallowedTools"),
	                                 /* restricts= */ true, definition->file, notices);
	if (!lists_are_known(definition, front, notices, err))
		return false;
	if (is_between(temperature, 0, 2))
		definition->temperature = json_number_value(temperature);
	if (!take_isolation(definition, json_object_get(front->fields, "isolation"), err))
		return false;
	catalog_agent_model(definition, model);
	catalog_agent_limits(definition, field_either(front, "max_turns", "maxTurns"),
	            json_object_get(front->fields, "timeout_mins"));
	return take_servers(definition, field_either(front, "mcp_servers", "mcpServers"), err);
}

/* Appends what one front matter describes. */
static bool add_described(const char *file, const struct sha256 *sum,
                          const struct frontmatter *front, bool listed, enum agents_from from,
                          struct agents *ret, struct err *err)
{
	struct agent_definition definition = catalog_agent_new(from);
	char hex[SHA256_HEX_SIZE];

	sha256_hex(sum, hex);
	definition.file = mem_strdup(file);
	definition.sha256 = mem_strdup(hex);
	definition.listed = listed;
	if (!take_front(&definition, front, ret->notices, err)) {
		catalog_agent_release(&definition);
		return false;
	}
	ret->at = mem_grow(ret->at, &ret->cap, ret->count + 1, sizeof(*ret->at));
	ret->at[ret->count++] = definition;
	return true;
}

/* Gemini CLI's list of remote agents: all of them, or none. */
static bool add_listed(const char *file, const struct sha256 *sum, const json_t *list,
                       enum agents_from from, struct agents *ret, struct err *err)
{
	const size_t before = ret->count;
	struct err problem = ERR_INIT;
	json_t *fields;
	size_t i;

	json_array_foreach((json_t *)list, i, fields) {
		const struct frontmatter front = { .fields = fields };

		if (add_described(file, sum, &front, true, from, ret, &problem))
			continue;
		while (ret->count > before)
			catalog_agent_release(&ret->at[--ret->count]);
		return err_set(err, problem.code, "agent %zu of its list: %s", i + 1,
		               problem.message);
	}
	return true;
}

bool agents_file_read(const char *file, struct span text, enum agents_from from,
                      struct agents *ret, struct err *err)
{
	_cleanup_frontmatter_ struct frontmatter front = { 0 };
	const struct sha256 sum = sha256_of(text);
	json_auto_t *list = frontmatter_list(text);

	if (list)
		return add_listed(file, &sum, list, from, ret, err);
	return frontmatter_parse(text, &front, err) &&
	       add_described(file, &sum, &front, false, from, ret, err);
}
