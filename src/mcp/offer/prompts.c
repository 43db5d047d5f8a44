/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts that a person picks, and what every model gets at the beginning.
 *
 * To add a prompt: a row in `prompts`, and its words.  In words, names of tools are
 * canonical and replaced by those that are offered; {NAME} is an argument. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"
#include "net/rpc/rpc.h"

/* ---- completion -------------------------------------------------------------- */

/* completion/complete: paths, for the resource template and for prompts.
 *
 * First what is in the folder that is being typed; then, for a bare name, files anywhere whose
 * names have it in them.  Prompts take paths relative to the first root; the template takes
 * absolute ones without their first slash.
 */

enum { VALUES_MAX = 100 }; /* the protocol's */

struct completion {
	struct provider *provider;
	bool template;    /* absolute, without the first slash */
	json_t *values;   /* array */
	size_t total;
};

/* The template's values are parts of URIs, where bytes that are not UTF-8 must be escaped one by
 * one: a client that escapes the displayed form of such a name would request another file, so it is
 * left out. */
static void completion_add(struct completion *completion, const char *value)
{
	if (completion->template && !utf8_valid(span_str(value)))
		return;
	completion->total++;
	if (json_array_size(completion->values) < VALUES_MAX)
		json_array_append_new(completion->values,
		                      completion->template ? json_cstr(value) : json_name(value));
}

/* One entry beneath `folder`, which was typed as `typed` (with its last slash). */
static void completion_add_entry(struct completion *completion, const char *typed,
                                 const char *folder,
                                 const struct walk_entry *entry)
{
	const char *slash = entry->kind == ENTRY_FOLDER ? "/" : "";
	_cleanup_free_ char *value =
		completion->template ? mem_printf("%s/%s%s", strcmp(folder, "/") ? folder : "",
	                                          entry->path, slash) :
	                               mem_printf("%s%s%s", typed, entry->path, slash);

	completion_add(completion, completion->template ? value + 1 : value);
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
			completion_add_entry(completion, typed, walk.folder, &walk.entries[i]);
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
			completion_add_entry(completion, "", walk.folder, &walk.entries[i]);
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
			completion_add(completion, completion->template ? value + 1 : value);
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
static bool completes_path(const json_t *ref, const json_t *argument, bool *ret_template)
{
	struct span type = json_span(json_object_get(ref, "type"));

	*ret_template = span_eq(type, SPAN("ref/resource"));
	return span_eq(json_span(json_object_get(argument, "name")), SPAN("path"));
}

void prompts_complete_argument(struct mcp_call *call, void *serve)
{
	const json_t *params = mcp_call_params(call);
	const json_t *argument = json_object_get(params, "argument");
	struct span value = json_span(json_object_get(argument, "value"));
	struct completion completion = { .values = json_array() };
	struct opened_workspace *opened;
	bool usable = value.len <= LIMIT_PATH_BYTES && (!value.len ||
	                                                !memchr(value.data, '\0', value.len));

	(void)serve;
	if (usable &&
	    completes_path(json_object_get(params, "ref"), argument, &completion.template)) {
		opened = conversation_open(mcp_call_session(call), call);
		completion.provider = opened->provider;
		_cleanup_free_ char *typed = completion.template ?
			mem_dup(value.data ? value.data : "", value.len) :
			name_from_shown(value.data ? value.data : "");

		complete_path(&completion, typed);
		opened_put(opened);
	}
	mcp_call_result(call, json_pack("{s:{s:o, s:I, s:b}}", "completion", "values",
	                                completion.values, "total", (json_int_t)completion.total,
	                                "hasMore", completion.total > VALUES_MAX));
}

/* ---- prompts ----------------------------------------------------------------- */

enum { WORDS_MAX = 1 << 20, ARGUMENTS_MAX = 3 };

static const char instructions[] =
	"hasp reads and edits files so that no edit lands on a state you have not seen. Whatever "
	"shows a file gives its version (higher is later) and its sha256. To change a file, use "
	"the copy with the highest version, reading it first if you have none, and pass that "
	"sha256 as base_content_sha256 to safe_patch (a unified diff; preferred), write_file or "
	"apply_changes. If the file has changed since, nothing is written and the answer's "
	"latest_file_state is what to start again from. Every answer of an edit has the new "
	"state: do not read again.";

/* Where no tool is offered that changes anything. */
static const char instructions_reading[] =
	"hasp shows files as they are: whatever shows a file gives its version (higher is later) "
	"and the sha256 of its bytes. Of several copies in your context the one with the highest "
	"version counts.";
static const char instructions_nothing[] = " Nothing can be changed through this server.";

static const struct prompt {
	const char *name, *title, *description;
	bool edits; /* it needs tools that change files */
	struct prompt_argument {
		const char *name, *description;
		bool required;
	} arguments[ARGUMENTS_MAX]; /* ends with a NULL name */
	const char *words;
	const char *missing_words; /* said too when the file of `path` does not exist; or NULL */
} prompts[] = {
	{
		.name = "edit_safely",
		.title = "Edit a file safely",
		.description = "Change one file, locked by its current state.",
		.edits = true,
		.arguments = { { "path", "The file to change.", true },
		               { "wish", "What to change.", true } },
		.words = "Change the file {path}: {wish}\n\nUse safe_patch with a unified diff, at "
			 "least 10 unchanged lines of context around each change, copied exactly, "
			 "and the file's sha256 as base_content_sha256. If the answer says "
			 "state_mismatch, someone else changed the file: look at "
			 "latest_file_state, keep what they did, and make the diff again from it. "
			 "If it says no_match or ambiguous_diff, correct the context. Then say in "
			 "a sentence or two what you changed.",
		.missing_words = "The file does not exist yet: create it with write_file, without "
				 "base_content_sha256.",
	},
	{
		.name = "apply_diff",
		.title = "Apply a diff",
		.description = "Apply a given diff, to one file or to several.",
		.edits = true,
		.arguments = { { "diff", "The unified diff.", true },
		               { "path", "The file, if the diff does not name it.", false } },
		.words = "Apply this diff to the workspace:\n\n{diff}\n\n"
			 "First read the files that it names (read_many_files), for their sha256. "
			 "One file: safe_patch with the diff as it is. Several: apply_changes with "
			 "one patch for each, so that all of it is applied or nothing. Line "
			 "numbers may be wrong; do not correct them. If a hunk does not match, "
			 "show me which one, and what the file has in that place, and ask before "
			 "you change the diff's meaning.",
	},
	{
		.name = "explore",
		.title = "Explore the workspace",
		.description = "Find something in the workspace and explain it.",
		.arguments = { { "question", "What you want to know.", true },
		               { "path", "Where to begin, if you know.", false } },
		.words = "Answer this question about the files of the workspace: {question}\n\n"
			 "Begin with list_directory and search_files, read what matters with "
			 "read_file or read_many_files, and do not change anything. Name the files "
			 "and lines that your answer rests on, and say what you did not look at.",
	},
};

/* ---- declaring them --------------------------------------------------------- */

static bool any_command(const struct offered_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (tool_kind_of(names->items[i].tool) == TOOL_KIND_EXECUTE)
			return true;
	return false;
}

static bool any_editor(const struct offered_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (tool_kind_changes(tool_kind_of(names->items[i].tool)) &&
		    tool_kind_of(names->items[i].tool) != TOOL_KIND_EXECUTE)
			return true;
	return false;
}

static bool is_offered(const struct prompt *prompt, const struct offered_names *names)
{
	return !prompt->edits || any_editor(names);
}

static json_t *prompt_declare(const struct prompt *prompt)
{
	json_t *arguments = json_array();

	for (const struct prompt_argument *argument = prompt->arguments;
	     argument < prompt->arguments + ARGUMENTS_MAX && argument->name; argument++)
		json_array_append_new(arguments, json_pack("{s:s, s:s, s:b}", "name",
		                                           argument->name, "description",
		                                           argument->description, "required",
		                                           argument->required));
	return json_pack("{s:s, s:s, s:s, s:o}", "name", prompt->name, "title", prompt->title,
	                 "description", prompt->description, "arguments", arguments);
}

char *prompts_declare(const struct offered_names *names)
{
	struct buf text = BUF_INIT(WORDS_MAX);
	json_auto_t *all = json_array();

	for (size_t i = 0; i < ARRAY_LEN(prompts); i++)
		if (is_offered(&prompts[i], names))
			json_array_append_new(all, prompt_declare(&prompts[i]));
	json_print(&text, all, 0);
	return buf_steal(&text);
}

char *prompts_instructions(const struct offered_names *names, const char *confinement)
{
	struct buf text = BUF_INIT(WORDS_MAX);

	names_rewrite(names, any_editor(names) ? SPAN(instructions) : SPAN(instructions_reading),
	              &text);
	if (!any_editor(names) && !any_command(names))
		buf_str(&text, instructions_nothing);
	if (confinement)
		buf_printf(&text, "\n\n%s", confinement);
	return buf_steal(&text);
}

/* ---- one prompt ------------------------------------------------------------- */

static const struct prompt *prompt_find(const char *name, const struct offered_names *names)
{
	for (size_t i = 0; name && i < ARRAY_LEN(prompts); i++)
		if (strcmp(prompts[i].name, name) == 0 && is_offered(&prompts[i], names))
			return &prompts[i];
	return NULL;
}

static const struct prompt_argument *missing_argument(const struct prompt *prompt,
                                                      const json_t *arguments)
{
	for (const struct prompt_argument *argument = prompt->arguments;
	     argument < prompt->arguments + ARGUMENTS_MAX && argument->name; argument++)
		if (argument->required &&
		    !json_span(json_object_get(arguments, argument->name)).len)
			return argument;
	return NULL;
}

/* The words with arguments in place of {NAME}. */
static void fill_in(struct buf *out, struct span words, const json_t *arguments)
{
	while (words.len) {
		const char *brace = memchr(words.data, '{', words.len);
		size_t plain = brace ? (size_t)(brace - words.data) : words.len;
		const char *end;

		buf_append(out, words.data, plain);
		words = span_skip(words, plain);
		end = words.len ? memchr(words.data, '}', words.len) : NULL;
		if (!end)
			continue;
		_cleanup_free_ char *name = mem_dup(words.data + 1,
		                                    (size_t)(end - words.data) - 1);

		buf_span(out, json_span(json_object_get(arguments, name)));
		words = span_skip(words, (size_t)(end - words.data) + 1);
	}
}

static void add_message(json_t *messages, json_t *content)
{
	json_array_append_new(messages,
	                      json_pack("{s:s, s:o}", "role", "user", "content", content));
}

static void add_words(json_t *messages, const struct offered_names *names,
                      const struct prompt *prompt, const json_t *arguments, bool missing)
{
	_cleanup_buf_ struct buf words = BUF_INIT(WORDS_MAX);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

	/* Rewrite the names first: arguments must stay as given. */
	names_rewrite(names, span_str(prompt->words), &words);
	if (missing && prompt->missing_words) {
		buf_str(&words, "\n\n");
		names_rewrite(names, span_str(prompt->missing_words), &words);
	}
	fill_in(&text, buf_view(&words), arguments);
	add_message(messages, json_pack("{s:s, s:o}", "type", "text", "text",
	                                json_text(buf_view(&text))));
}

/* The file of the argument `path` as a resource; *missing when there is none. A folder is
 * fine: it is named in the words. */
static bool add_file_resource(json_t *messages, struct mcp_call *call, const char *path,
                              bool *missing,
                              struct err *err)
{
	struct conversation *conversation = mcp_call_session(call);
	struct opened_workspace *opened = conversation_open(conversation, call);
	struct err why = ERR_INIT;
	json_t *contents = NULL;
	bool ok = resources_contents(conversation, opened->provider, path, &contents, &why);

	conversation_announce(conversation, call);
	opened_put(opened);
	if (ok)
		add_message(messages, json_pack("{s:s, s:o}", "type", "resource", "resource",
		                                contents));
	*missing = why.code == ERR_FILE_NOT_FOUND;
	if (ok || *missing || why.code == ERR_NOT_A_FILE || why.code == ERR_TOO_LARGE)
		return true;
	*err = why;
	return false;
}

void prompts_get(struct mcp_call *call, void *data)
{
	const struct serve *serve = data;
	const json_t *arguments = mcp_call_arguments(call);
	const struct prompt *prompt = prompt_find(mcp_call_name(call), &serve->names);
	const struct prompt_argument *absent = prompt ? missing_argument(prompt, arguments) : NULL;
	const char *shown = json_string_value(json_object_get(arguments, "path"));
	_cleanup_free_ char *path = shown ? name_from_shown(shown) : NULL;
	json_auto_t *messages = json_array();
	struct err err = ERR_INIT;
	bool missing = false;

	if (!prompt || absent) {
		_cleanup_free_ char *why = absent ?
			mem_printf("The prompt needs the argument \"%s\".", absent->name) :
			mem_strdup("There is no such prompt.");

		mcp_call_error(call, RPC_INVALID_PARAMS, why, NULL);
		return;
	}
	if (path && *path && !add_file_resource(messages, call, path, &missing, &err)) {
		mcp_call_error(call, RPC_INVALID_PARAMS, err.message, NULL);
		return;
	}
	add_words(messages, &serve->names, prompt, arguments, missing);
	mcp_call_result(call, json_pack("{s:s, s:O}", "description", prompt->description,
	                                "messages", messages));
}
