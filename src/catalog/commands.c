/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/commands.h"

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
#include "base/path.h"
#include "base/text.h"
#include "catalog/frontmatter.h"
#include "catalog/private.h"
#include "config/extensions.h"
#include "data/json.h"
#include "data/toml.h"

enum {
	COMMANDS_MAX = 10000,        /* of one source: far more than any set-up has */
	COMMANDS_DEPTH_MAX = 8,
	COMMAND_SEGMENT_MAX = 50,    /* of a name, as in Gemini CLI */
	COMMAND_FILE_MAX = 1 << 20,
};

static const struct {
	const char *folder;          /* beneath the user's home, or the project */
	const char *suffix;
	bool project, markdown;
} sources[] = {
	[COMMANDS_USER] = { ".gemini/commands", ".toml", false, false },
	[COMMANDS_PROJECT] = { ".gemini/commands", ".toml", true, false },
	[COMMANDS_CLAUDE_USER] = { ".claude/commands", ".md", false, true },
	[COMMANDS_CLAUDE_PROJECT] = { ".claude/commands", ".md", true, true },
	[COMMANDS_EXTENSION] = { NULL, ".toml", false, false },
	[COMMANDS_PLUGIN] = { NULL, ".md", false, true },
};

bool commands_is_markdown(const struct custom_command *command)
{
	return sources[command->source].markdown;
}

/* ---- which there are ------------------------------------------------------------- */

/* "a b" is "a_b". */
static void put_segment(struct buf *out, struct span name)
{
	name = span_head(name, COMMAND_SEGMENT_MAX);
	for (size_t i = 0; i < name.len; i++)
		buf_char(out, isalnum((unsigned char)name.data[i]) || strchr("_.-", name.data[i]) ?
		         name.data[i] : '_');
}

/* Where files are looked for. */
struct command_place {
	enum command_source source;
	const char *root;      /* in the sense of base/door.h */
	const char *extension; /* NULL: it is no extension's */
	size_t limit;          /* how many commands there may be then */
};

static void add_command(struct custom_commands *commands, const struct command_place *place,
                        const char *before, struct span name, const char *path)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(LIMIT_PATH_BYTES);

	buf_str(&whole, before);
	put_segment(&whole, name);
	commands->at = mem_grow(commands->at, &commands->cap, commands->count + 1,
	                        sizeof(*commands->at));
	commands->at[commands->count++] = (struct custom_command){
		.name = buf_steal(&whole), .path = mem_strdup(path),
		.root = mem_strdup(place->root), .source = place->source,
		.extension = place->extension ? mem_strdup(place->extension) : NULL,
	};
}

/* `before`: what names of files in `folder` begin with. */
static void look_for_files(struct custom_commands *commands, const struct command_place *place,
                           const char *folder, const char *before, unsigned depth)
{
	const struct span suffix = span_str(sources[place->source].suffix);
	int opened = door_folder(place->root, folder);
	DIR *entries = opened >= 0 ? fdopendir(opened) : NULL;
	const struct dirent *entry;
	struct stat status;

	while (entries && commands->count < place->limit && (entry = readdir(entries))) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entry->d_name);
		const struct span name = span_str(entry->d_name);

		/* A million other files must not cost a look each. */
		if (entry->d_name[0] == '.' ||
		    (entry->d_type == DT_REG && !span_ends(name, suffix)) ||
		    fstatat(opened, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(status.st_mode) && depth < COMMANDS_DEPTH_MAX) {
			_cleanup_buf_ struct buf further = BUF_INIT(LIMIT_PATH_BYTES);

			buf_str(&further, before);
			put_segment(&further, name);
			buf_char(&further, ':');
			look_for_files(commands, place, path, buf_view(&further).data, depth + 1);
		} else if (!S_ISDIR(status.st_mode) && span_ends(name, suffix)) {
			add_command(commands, place, before,
			            span_head(name, name.len - suffix.len), path);
		}
	}
	if (entries)
		closedir(entries);
	else if (opened >= 0)
		close(opened);
}

static void look_into_source(struct custom_commands *commands, enum command_source source,
                             const struct home *home)
{
	const bool project = sources[source].project;
	struct command_place place = { .source = source,
		                       .limit = commands->count + COMMANDS_MAX };
	_cleanup_free_ char *folder = NULL;

	if (project)
		folder = path_join(home_project(home), sources[source].folder);
	else if (source == COMMANDS_USER)
		folder = mem_printf("%s/commands", home_gemini(home));
	else
		folder = path_join(home_user(home), sources[source].folder);
	/* The user may have made a link of the folder, a project's leads nowhere else. */
	place.root = project ? home_project(home) : folder;
	look_for_files(commands, &place, folder, "", 0);
}

/* A file that a manifest names itself. */
static void add_named_file(struct custom_commands *commands, const struct command_place *place,
                           const char *path)
{
	const struct span name = span_str(strrchr(path, '/') + 1);
	const struct span suffix = span_str(sources[place->source].suffix);

	if (commands->count < place->limit && span_ends(name, suffix))
		add_command(commands, place, "", span_head(name, name.len - suffix.len), path);
}

static void look_into_extension(struct custom_commands *commands, const char *folder,
                                const char *name, const json_t *manifest)
{
	const bool plugin = extension_format(manifest) == EXTENSION_CLAUDE;
	const struct command_place place = {
		plugin ? COMMANDS_PLUGIN : COMMANDS_EXTENSION, folder, name,
		commands->count + COMMANDS_MAX,
	};
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_COMMANDS), i, one) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(one));

		if (door_is_folder(path))
			look_for_files(commands, &place, path, "", 0);
		else
			add_named_file(commands, &place, path);
	}
}

/* Appends them, and empties `commands`. */
static void commands_move_names(struct custom_commands *commands, json_t *names)
{
	for (size_t i = 0; i < commands->count; i++)
		json_array_append_new(names, json_text(span_str(commands->at[i].name)));
	commands_release(commands);
}

void commands_in_extension(const char *folder, const json_t *manifest,
                           struct custom_commands *ret)
{
	const char *name = json_string_value(json_object_get(manifest, "name"));

	*ret = (struct custom_commands){ 0 };
	look_into_extension(ret, folder, name, manifest);
	/* Claude Code has the plugin's name in front. */
	for (size_t i = 0; i < ret->count; i++) {
		struct custom_command *one = &ret->at[i];
		_cleanup_free_ char *own = NULL;

		if (one->source != COMMANDS_PLUGIN)
			continue;
		own = mem_steal(&one->name);
		one->name = mem_printf("%s:%s", name, own);
	}
}

void commands_add_names(const char *project, enum command_source source, json_t *names)
{
	struct custom_commands commands = { 0 };
	const struct command_place place = { source, project, NULL, COMMANDS_MAX };
	_cleanup_free_ char *folder = path_join(project, sources[source].folder);

	look_for_files(&commands, &place, folder, "", 0);
	commands_move_names(&commands, names);
}

const char *command_owner(const struct custom_command *command)
{
	return command->extension              ? command->extension :
	       sources[command->source].project ? "project" : "user";
}

enum catalog_rank command_rank(const struct custom_command *command)
{
	return command->extension              ? CATALOG_OTHERS :
	       sources[command->source].project ? CATALOG_PROJECT : CATALOG_USER;
}

void commands_find(const struct settings *settings, bool project, struct custom_commands *ret)
{
	const struct home *home = settings_home(settings);
	const struct extensions *extensions = extensions_installed(settings);

	*ret = (struct custom_commands){ 0 };
	project = catalog_project_counts(settings, project);
	for (enum command_source source = 0; source < COMMANDS_EXTENSION; source++)
		if (project || !sources[source].project)
			look_into_source(ret, source, home);
	for (size_t i = 0; i < extensions->count; i++)
		if (extension_counts(&extensions->at[i]))
			look_into_extension(ret, extensions->at[i].folder, extensions->at[i].name,
			                    extensions->at[i].manifest);
}

void commands_release(struct custom_commands *commands)
{
	for (size_t i = 0; i < commands->count; i++) {
		free(commands->at[i].name);
		free(commands->at[i].path);
		free(commands->at[i].root);
		free(commands->at[i].extension);
	}
	free(commands->at);
	*commands = (struct custom_commands){ 0 };
}

/* ---- reading ---------------------------------------------------------------------- */

static json_t *read_toml(const char *path, struct span text, struct err *err)
{
	struct err inner = ERR_INIT;
	json_t *value = NULL;

	if (toml_parse(text, &value, &inner) &&
	    json_is_string(json_object_get(value, "prompt")))
		return value;
	err_set(err, ERR_INVALID_ARGUMENT, "%s: %s", path,
	        inner.code ? inner.message : "it has no text named \"prompt\".");
	json_decref(value);
	return NULL;
}

/* What else its front matter asks for.  An extension's file allows nothing, as its rules do not. */
static void command_take_fields(const struct custom_command *command, const json_t *fields,
                                json_t *value)
{
	const char *agent = json_string_value(json_object_get(fields, "agent"));
	_cleanup_free_ char *model = catalog_model_words(
		json_string_value(json_object_get(fields, "model")));
	json_auto_t *allowed = catalog_words(json_object_get(fields, "allowed-tools"));
	json_auto_t *arguments = catalog_words(json_object_get(fields, "arguments"));

	if (allowed && !command->extension)
		json_object_set(value, "allowed-tools", allowed);
	if (arguments)
		json_object_set(value, "arguments", arguments);
	if (model)
		json_object_set_new(value, "model", json_cstr(model));
	if (span_eq(json_span(json_object_get(fields, "context")), SPAN("fork")))
		json_object_set_new(value, "agent", json_cstr(agent ? agent : "generalist"));
}

static json_t *read_markdown(const struct custom_command *command, struct span text,
                             struct err *err)
{
	_cleanup_frontmatter_ struct frontmatter front = { 0 };
	_cleanup_free_ char *about = NULL, *hint = NULL, *placed = NULL;
	struct err inner = ERR_INIT;
	json_t *value;

	if (!frontmatter_parse(text, &front, &inner)) {
		err_set(err, inner.code, "%s: %s", command->path, inner.message);
		return NULL;
	}
	if (command->source == COMMANDS_PLUGIN)
		placed = extension_text(EXTENSION_CLAUDE, command->root, front.body);
	value = json_pack("{s:o}", "prompt", json_text(placed ? span_str(placed) : front.body));
	about = frontmatter_text(&front, "description");
	if (!about)
		about = catalog_first_line(front.body);
	hint = catalog_argument_hint(front.fields);
	if (about)
		json_object_set_new(value, "description", json_text(span_str(about)));
	if (hint && *hint)
		json_object_set_new(value, "argument-hint", json_text(span_str(hint)));
	command_take_fields(command, front.fields, value);
	return value;
}

json_t *commands_read(const struct custom_command *command, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };

	if (!door_read(command->root, command->path, COMMAND_FILE_MAX, &text, err))
		return NULL;
	if (!text.data) {
		err_set(err, ERR_FILE_NOT_FOUND, "%s is no longer there.", command->path);
		return NULL;
	}
	return commands_is_markdown(command) ?
	       read_markdown(command, file_text_span(&text), err) :
	       read_toml(command->path, file_text_span(&text), err);
}
