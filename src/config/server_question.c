/* SPDX-License-Identifier: Apache-2.0 */
/* What a user is asked about an MCP server before it starts. */
#include "config/servers.h"

#include <string.h>

#include "base/door.h"
#include "base/mem.h"
#include "base/unseen.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

enum {
	QUESTION_BYTES = 4096, /* longer ones are not asked */
	SERVER_NAME_BYTES = 100,
};

static void put_question_words(struct buf *out, const json_t *list)
{
	size_t i;
	json_t *text;

	json_array_foreach((json_t *)list, i, text) {
		buf_char(out, ' ');
		if (json_is_string(text) && !memchr(json_string_value(text), ' ',
		                                    json_string_length(text)) &&
		    json_string_length(text))
			buf_span(out, json_span(text));
		else
			json_print(out, text, 0);
	}
}

/* "; variables A, B": their values may be secrets. */
static void put_member_names(struct buf *out, const char *what, const json_t *object)
{
	const char *name;
	json_t *value;
	bool first = true;

	json_object_foreach((json_t *)object, name, value) {
		buf_printf(out, "%s%s", first ? what : ", ", name);
		first = false;
	}
}

/* Adds the names of variables in the strings of `value`, as Claude Code writes them. */
/* recursive= */
static void note_variables(json_t *wanted, const json_t *value)
{
	const char *name, *at = json_is_string(value) ? json_string_value(value) : NULL;
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)value, i, one)
		note_variables(wanted, one);
	json_object_foreach((json_t *)value, name, one)
		note_variables(wanted, one);
	while (at && (at = strstr(at, "${")) != NULL) {
		at += strlen("${");
		json_object_setn_new(wanted, at, strcspn(at, ":}"), json_true());
	}
}

/* "; with your variables A, B": the user's variables that the entry uses, in either format. */
static void put_variables_wanted(struct buf *out, const json_t *said)
{
	json_auto_t *wanted = json_object();
	const json_t *token = json_object_get(said, "bearer_token_env_var");
	const char *field;
	json_t *variable;
	size_t i;

	json_array_foreach(json_object_get(said, "env_vars"), i, variable) {
		const json_t *name = servers_codex_variable(variable);

		if (json_is_string(name))
			json_object_set_new(wanted, json_string_value(name), json_true());
	}
	json_object_foreach(json_object_get(said, "env_http_headers"), field, variable)
		if (json_is_string(variable))
			json_object_set_new(wanted, json_string_value(variable), json_true());
	if (json_is_string(token))
		json_object_set_new(wanted, json_string_value(token), json_true());
	note_variables(wanted, json_object_get(said, "env"));
	note_variables(wanted, json_object_get(said, "headers"));
	put_member_names(out, "; with your variables ", wanted);
}

const json_t *servers_entry_address(const json_t *entry)
{
	static const char *const members[] = { "httpUrl", "url", "tcp" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_string_length(json_object_get(entry, members[i])))
			return json_object_get(entry, members[i]);
	return NULL;
}

bool servers_name_is_fine(const char *name)
{
	const size_t len = strlen(name);

	for (const char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("-_.@/: ", *c))
			return false;
	return len > 0 && len <= SERVER_NAME_BYTES;
}

const char *servers_entry_problem(const char *name, const json_t *entry)
{
	if (!servers_name_is_fine(name))
		return "Its name is not one that hasp takes.";
	if (!json_is_object(entry))
		return "Its entry is no object.";
	if (json_object_get(entry, "command") && !json_is_string(json_object_get(entry, "command")))
		return "Its \"command\" is no text.";
	if (!servers_entry_address(entry) && !json_string_length(json_object_get(entry, "command")))
		return "It cannot be started: it has neither a command nor an address "
		       "(\"command\", \"httpUrl\" or \"url\").";
	return NULL;
}

char *servers_project_question(const json_t *entry, const json_t *said)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(QUESTION_BYTES), out = BUF_INIT(8 * QUESTION_BYTES);
	const json_t *url = servers_entry_address(entry), *folder = json_object_get(entry, "cwd");
	const json_t *helper = url ? json_object_get(entry, "headersHelper") : NULL;
	const bool program = url == NULL;

	buf_str(&raw, program ? "run: " : "contact: ");
	buf_span(&raw, json_span(program ? json_object_get(entry, "command") : url));
	if (program)
		put_question_words(&raw, json_object_get(entry, "args"));
	if (program && json_string_length(folder)) {
		buf_str(&raw, "; in the folder ");
		buf_span(&raw, json_span(folder));
	}
	if (helper) {
		buf_str(&raw, "; run, for headers: ");
		buf_span(&raw, json_span(helper));
	}
	if (program || helper)
		put_member_names(&raw, "; with the variables ", json_object_get(said, "env"));
	if (!program)
		put_member_names(&raw, "; with the headers ", json_object_get(said, "headers"));
	put_member_names(&raw, "; with the headers ", json_object_get(said, "http_headers"));
	put_variables_wanted(&raw, said);
	if (raw.overflowed)
		return NULL;
	for (size_t i = 0; i < raw.len; i++)
		if ((unsigned char)raw.data[i] < 0x20 || raw.data[i] == 0x7f)
			raw.data[i] = ' ';
	unseen_show(&out, buf_view(&raw));
	return out.overflowed ? NULL : buf_steal(&out);
}
