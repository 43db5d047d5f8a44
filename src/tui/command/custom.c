/* SPDX-License-Identifier: Apache-2.0 */
/* Custom commands: Gemini CLI's TOML files (reference: 3.4).
 *
 *     prompt = "Fix !{git diff --stat} as in @{docs/style.md}: {{args}}"
 *     description = "Fix what I changed"
 *
 * Files are read when a command is typed.  A prompt is taken apart once, as it stands in the file:
 * what a command prints, a file holds or the user typed is put in and not looked at again.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/toml.h"
#include "tui/command/private.h"

enum {
	CUSTOM_MAX = 1000,            /* commands of one folder */
	CUSTOM_DEPTH_MAX = 8,
	CUSTOM_SEGMENT_MAX = 50,      /* of a name, as in Gemini CLI */
	CUSTOM_FILE_MAX = 1 << 20,
};

struct custom {
	char *name;        /* owned; "git:fix" */
	char *path;        /* owned */
	const char *root;  /* borrowed; the folder that it is beneath */
	bool project;
};

struct customs {
	struct custom *at; /* owned */
	size_t count, cap;
	char *roots[2];    /* owned: of the user, of the project; NULL: none counts */
};

/* ---- which there are ------------------------------------------------------------- */

/* "a b" is "a_b". */
static void put_segment(struct buf *out, struct span name)
{
	name = span_head(name, CUSTOM_SEGMENT_MAX);
	for (size_t i = 0; i < name.len; i++)
		buf_char(out, isalnum((unsigned char)name.data[i]) || strchr("_.-", name.data[i]) ?
		         name.data[i] : '_');
}

static void customs_add(struct customs *customs, bool project, const char *before, const char *name,
                        const char *path)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(LIMIT_PATH_BYTES);

	buf_str(&whole, before);
	put_segment(&whole, span_of(name, strlen(name) - strlen(".toml")));
	customs->at = mem_grow(customs->at, &customs->cap, customs->count + 1,
	                       sizeof(*customs->at));
	customs->at[customs->count++] = (struct custom){
		.name = buf_steal(&whole), .path = mem_strdup(path),
		.root = customs->roots[project], .project = project,
	};
}

static void customs_look(struct customs *customs, bool project, const char *folder,
                         const char *before, unsigned depth)
{
	int opened = door_folder(customs->roots[project], folder);
	DIR *entries = opened >= 0 ? fdopendir(opened) : NULL;
	const struct dirent *entry;
	struct stat status;

	while (entries && customs->count < (size_t)(project + 1) * CUSTOM_MAX &&
	       (entry = readdir(entries))) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] == '.' ||
		    fstatat(opened, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(status.st_mode) && depth < CUSTOM_DEPTH_MAX) {
			_cleanup_buf_ struct buf further = BUF_INIT(LIMIT_PATH_BYTES);

			buf_str(&further, before);
			put_segment(&further, span_str(entry->d_name));
			buf_char(&further, ':');
			customs_look(customs, project, path, buf_view(&further).data, depth + 1);
		} else if (!S_ISDIR(status.st_mode) &&
		           span_ends(span_str(entry->d_name), SPAN(".toml"))) {
			customs_add(customs, project, before, entry->d_name, path);
		}
	}
	if (entries)
		closedir(entries);
	else if (opened >= 0)
		close(opened);
}

static void rename_custom(struct custom *custom)
{
	char *name = mem_printf("%s.%s", custom->project ? "workspace" : "user", custom->name);

	free(custom->name);
	custom->name = name;
}

/* Built-in commands keep their names; of two with one name both get another. */
static void customs_separate(struct customs *customs, custom_taken *taken_name)
{
	for (size_t i = 0; i < customs->count; i++) {
		struct custom *one = &customs->at[i];
		bool taken = taken_name(span_str(one->name));

		for (size_t k = i + 1; k < customs->count; k++)
			if (!strcasecmp(one->name, customs->at[k].name) &&
			    one->project != customs->at[k].project) {
				rename_custom(&customs->at[k]);
				taken = true;
			}
		if (taken)
			rename_custom(one);
	}
}

static void customs_load(const struct command_context *context, custom_taken *taken,
                         struct customs *ret)
{
	const struct home *home = settings_home(context->settings);

	*ret = (struct customs){ .roots = { mem_printf("%s/commands", home_gemini(home)) } };
	customs_look(ret, false, ret->roots[0], "", 0);
	if (context->local && settings_trusted(context->settings) &&
	    strcmp(home_user(home), home_project(home)) != 0) {
		_cleanup_free_ char *folder = mem_printf("%s/.gemini/commands",
		                                         home_project(home));

		ret->roots[1] = mem_strdup(home_project(home));
		customs_look(ret, true, folder, "", 0);
	}
	customs_separate(ret, taken);
}

static void customs_release(struct customs *customs)
{
	for (size_t i = 0; i < customs->count; i++) {
		free(customs->at[i].name);
		free(customs->at[i].path);
	}
	free(customs->at);
	free(customs->roots[0]);
	free(customs->roots[1]);
}

/* {"prompt", "description"?}; NULL: *err. A new reference. */
static json_t *custom_read(const struct custom *custom, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err inner = ERR_INIT;
	json_t *value = NULL;

	if (!door_read(custom->root, custom->path, CUSTOM_FILE_MAX, &text, err))
		return NULL;
	if (!text.data || !toml_parse(file_text_span(&text), false, &value, &inner) ||
	    !json_is_string(json_object_get(value, "prompt"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s: %s", custom->path,
		        inner.code ? inner.message : "it has no text named \"prompt\".");
		json_decref(value);
		return NULL;
	}
	return value;
}

void custom_each(const struct command_context *context, custom_taken *taken,
                 void (*one)(void *data, const char *name, const char *description), void *data)
{
	struct customs customs;

	customs_load(context, taken, &customs);
	for (size_t i = 0; i < customs.count; i++) {
		struct err ignored = ERR_INIT;
		json_auto_t *file = custom_read(&customs.at[i], &ignored);
		const char *about = json_string_value(json_object_get(file, "description"));

		if (file)
			one(data, customs.at[i].name, about ? about : "A command of yours");
	}
	customs_release(&customs);
}

/* ---- expansion ------------------------------------------------------------------- */

struct expansion {
	struct command_call *call;
	struct span arguments;
	bool used;            /* {{args}} stood somewhere */
	struct buf out;
};

/* One word for a shell, whatever is in it. */
static void put_shell_word(struct buf *out, struct span text)
{
	buf_char(out, '\'');
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\'')
			buf_str(out, "'\\''");
		else
			buf_char(out, text.data[i]);
	buf_char(out, '\'');
}

/* `text` with {{args}} replaced. */
static void put_with_arguments(struct expansion *expansion, struct span text, bool quoted,
                               struct buf *out)
{
	static const struct span mark = { "{{args}}", 8 };

	while (text.len) {
		const char *at = memmem(text.data, text.len, mark.data, mark.len);
		size_t len = at ? (size_t)(at - text.data) : text.len;

		buf_span(out, span_head(text, len));
		text = span_skip(text, len + (at ? mark.len : 0));
		if (!at)
			return;
		expansion->used = true;
		if (quoted)
			put_shell_word(out, expansion->arguments);
		else
			buf_span(out, expansion->arguments);
	}
}

/* The length of what stands in braces that `text` begins behind; SIZE_MAX: they do not close. */
static size_t braced_length(struct span text)
{
	size_t depth = 1;

	for (size_t i = 0; i < text.len; i++) {
		depth += text.data[i] == '{';
		depth -= text.data[i] == '}';
		if (!depth)
			return i;
	}
	return SIZE_MAX;
}

static bool fail_with_result(struct expansion *expansion, const char *what, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (!message)
		message = json_string_value(json_object_get(result, "message"));
	command_fail(expansion->call, "%s: %s", what, message ? message : "it failed.");
	return false;
}

/* !{command}: run as the model's commands are, with the policy's say. */
static bool put_printed(struct expansion *expansion, struct span inside)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_auto_t *arguments = NULL, *result = NULL;
	const json_t *code, *output;

	put_with_arguments(expansion, span_trim(inside), true, &line);
	arguments = json_pack("{s:o}", "command", json_text(buf_view(&line)));
	result = host_call(expansion->call->context->host, "run_shell_command", arguments);
	code = json_object_get(result, "exit_code");
	output = json_object_get(result, "output");
	if (!json_is_integer(code))
		return fail_with_result(expansion, json_string_value(json_object_get(arguments,
		                                                                     "command")),
		                        result);
	buf_span(&expansion->out, span_trim(json_span(output)));
	if (json_integer_value(code))
		buf_printf(&expansion->out, "\n[Shell command '%s' exited with code %lld]",
		           json_string_value(json_object_get(arguments, "command")),
		           (long long)json_integer_value(code));
	return true;
}

/* @{path}: what a file holds, by the rules for reading. */
static bool put_file_content(struct expansion *expansion, struct span inside)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	json_auto_t *arguments = NULL, *result = NULL;
	const json_t *content;

	put_with_arguments(expansion, span_trim(inside), false, &path);
	arguments = json_pack("{s:o}", "file_path", json_text(buf_view(&path)));
	result = host_call(expansion->call->context->host, "read_file", arguments);
	content = json_object_get(result, "content");
	if (!json_is_string(content))
		return fail_with_result(expansion, json_string_value(json_object_get(arguments,
		                                                                     "file_path")),
		                        result);
	buf_span(&expansion->out, json_span(content));
	return true;
}

/* The next "!{" or "@{"; NULL: there is none. */
static const char *next_mark(struct span text)
{
	for (size_t i = 0; i + 1 < text.len; i++)
		if ((text.data[i] == '!' || text.data[i] == '@') && text.data[i + 1] == '{')
			return text.data + i;
	return NULL;
}

static bool expand(struct expansion *expansion, struct span text)
{
	const char *mark;

	while ((mark = next_mark(text))) {
		struct span before = span_head(text, (size_t)(mark - text.data));
		struct span inside = span_skip(text, before.len + 2);
		size_t len = braced_length(inside);

		if (len == SIZE_MAX) {
			command_fail(expansion->call, "The braces of \"%.20s\" do not close.",
			             mark);
			return false;
		}
		put_with_arguments(expansion, before, false, &expansion->out);
		text = span_skip(inside, len + 1);
		inside = span_head(inside, len);
		if (!(*mark == '!' ? put_printed(expansion, inside) :
		                     put_file_content(expansion, inside)))
			return false;
	}
	put_with_arguments(expansion, text, false, &expansion->out);
	return true;
}

static void custom_send(struct command_call *call, const struct custom *custom, struct span line)
{
	struct expansion expansion = { .call = call, .arguments = call->arguments,
		                       .out = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	struct err err = ERR_INIT;
	json_auto_t *file = custom_read(custom, &err);
	const json_t *prompt = json_object_get(file, "prompt");

	if (!file) {
		command_fail(call, "%s", err.message);
	} else if (expand(&expansion, json_span(prompt))) {
		if (!expansion.used && call->arguments.len) {
			buf_str(&expansion.out, "\n\n");
			buf_span(&expansion.out, line);
		}
		call->result->plain = true;
		command_then(call, COMMAND_SEND, buf_steal(&expansion.out));
	}
	buf_release(&expansion.out);
}

static const struct custom *find_custom(const struct customs *customs, struct span name)
{
	for (size_t i = 0; i < customs->count; i++)
		if (command_word_is(name, customs->at[i].name))
			return &customs->at[i];
	return NULL;
}

bool custom_exists(const struct command_context *context, custom_taken *taken,
                   struct span name)
{
	struct customs customs;
	bool found;

	customs_load(context, taken, &customs);
	found = find_custom(&customs, name) != NULL;
	customs_release(&customs);
	return found;
}

bool custom_run(struct command_call *call, custom_taken *taken, struct span name,
                struct span line)
{
	struct customs customs;
	const struct custom *found;

	customs_load(call->context, taken, &customs);
	found = find_custom(&customs, name);
	if (found)
		custom_send(call, found, line);
	customs_release(&customs);
	return found != NULL;
}
