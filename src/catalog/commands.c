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
	COMMANDS_MAX = 1000,         /* of one source */
	COMMANDS_DEPTH_MAX = 8,
	COMMAND_SEGMENT_MAX = 50,    /* of a name, as in Gemini CLI */
	COMMAND_FILE_MAX = 1 << 20,
	COMMAND_ABOUT_MAX = 200,     /* of a first line that describes one */
};

static const struct {
	const char *folder;          /* beneath the user's home, or the project */
	const char *suffix;
	const char *prefix;          /* of a name that is not free */
	bool project, markdown;
} sources[] = {
	[COMMANDS_USER] = { ".gemini/commands", ".toml", "user", false, false },
	[COMMANDS_PROJECT] = { ".gemini/commands", ".toml", "workspace", true, false },
	[COMMANDS_CLAUDE_USER] = { ".claude/commands", ".md", "user", false, true },
	[COMMANDS_CLAUDE_PROJECT] = { ".claude/commands", ".md", "workspace", true, true },
	[COMMANDS_EXTENSION] = { NULL, ".toml", NULL, false, false },
	[COMMANDS_PLUGIN] = { NULL, ".md", NULL, false, true },
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
                           const char *before, const char *path)
{
	const struct span name = span_str(strrchr(path, '/') + 1);
	const struct span suffix = span_str(sources[place->source].suffix);

	if (commands->count < place->limit && span_ends(name, suffix))
		add_command(commands, place, before, span_head(name, name.len - suffix.len), path);
}

/* Claude Code's have the plugin's name in front. */
static void look_into_extension(struct custom_commands *commands, const char *folder,
                                const char *name, const json_t *manifest)
{
	const bool plugin = extension_format(manifest) == EXTENSION_CLAUDE;
	const struct command_place place = {
		plugin ? COMMANDS_PLUGIN : COMMANDS_EXTENSION, folder, name,
		commands->count + COMMANDS_MAX,
	};
	_cleanup_free_ char *before = plugin ? mem_printf("%s:", name) : mem_strdup("");
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_COMMANDS), i, one) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(one));

		if (door_is_folder(path))
			look_for_files(commands, &place, path, before, 0);
		else
			add_named_file(commands, &place, before, path);
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
	*ret = (struct custom_commands){ 0 };
	look_into_extension(ret, folder, json_string_value(json_object_get(manifest, "name")),
	                    manifest);
}

void commands_add_names(const char *project, enum command_source source, json_t *names)
{
	struct custom_commands commands = { 0 };
	const struct command_place place = { source, project, NULL, COMMANDS_MAX };
	_cleanup_free_ char *folder = path_join(project, sources[source].folder);

	look_for_files(&commands, &place, folder, "", 0);
	commands_move_names(&commands, names);
}

/* ---- names that are not free ------------------------------------------------------ */

static void put_before_name(struct custom_command *command, const char *prefix)
{
	char *name = mem_printf("%s.%s", prefix, command->name);

	free(command->name);
	command->name = name;
}

/* Of the user and the project, of one program. */
static bool are_rivals(const struct custom_command *a, const struct custom_command *b)
{
	return a->source != b->source && !a->extension && !b->extension &&
	       commands_is_markdown(a) == commands_is_markdown(b) &&
	       !strcasecmp(a->name, b->name);
}

static void separate_within_program(struct custom_commands *commands, command_name_taken *taken)
{
	for (size_t i = 0; i < commands->count; i++) {
		struct custom_command *one = &commands->at[i];
		bool not_free = taken(span_str(one->name));

		if (one->extension)
			continue;
		for (size_t k = i + 1; k < commands->count; k++)
			if (are_rivals(one, &commands->at[k])) {
				put_before_name(&commands->at[k],
				                sources[commands->at[k].source].prefix);
				not_free = true;
			}
		if (not_free)
			put_before_name(one, sources[one->source].prefix);
	}
}

/* Whether a command that is not from the same extension has this name. */
static bool is_others_name(const struct custom_commands *commands, const struct custom_command *one)
{
	for (size_t i = 0; i < commands->count; i++) {
		const struct custom_command *other = &commands->at[i];
		const bool same = other->extension && !strcmp(other->extension, one->extension);

		if (!same && !strcasecmp(other->name, one->name))
			return true;
	}
	return false;
}

/* All names are compared as they were before any was changed. */
static void separate_extensions(struct custom_commands *commands, command_name_taken *taken)
{
	_cleanup_free_ bool *yields = mem_alloc(commands->count + 1, sizeof(*yields));

	for (size_t i = 0; i < commands->count; i++)
		yields[i] = commands->at[i].extension &&
		            (taken(span_str(commands->at[i].name)) ||
		             is_others_name(commands, &commands->at[i]));
	for (size_t i = 0; i < commands->count; i++)
		if (yields[i])
			put_before_name(&commands->at[i], commands->at[i].extension);
}

static void separate_programs(struct custom_commands *commands)
{
	for (size_t i = 0; i < commands->count; i++)
		for (size_t k = 0; k < i && commands_is_markdown(&commands->at[i]); k++)
			if (!commands_is_markdown(&commands->at[k]) &&
			    !strcasecmp(commands->at[k].name, commands->at[i].name))
				put_before_name(&commands->at[i], "claude");
}

void commands_find(const struct settings *settings, bool project,
                   command_name_taken *taken, struct custom_commands *ret)
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
	separate_extensions(ret, taken);
	separate_within_program(ret, taken);
	separate_programs(ret);
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

static bool is_name(struct span name, const char *other)
{
	return name.len == strlen(other) && strncasecmp(name.data, other, name.len) == 0;
}

const struct custom_command *commands_named(const struct custom_commands *commands,
                                            struct span name)
{
	const struct custom_command *found = NULL;

	for (size_t i = 0; i < commands->count; i++)
		if (is_name(name, commands->at[i].name))
			return &commands->at[i];
	for (size_t i = 0; i < commands->count; i++) {
		const struct custom_command *one = &commands->at[i];
		const char *last = strrchr(one->name, ':');

		if (!last || !commands_is_markdown(one) || !is_name(name, last + 1))
			continue;
		if (found)
			return NULL;
		found = one;
	}
	return found;
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

/* YAML takes a lone "[name]" for a list. */
static char *argument_hint(const struct frontmatter *front)
{
	const json_t *list = json_object_get(front->fields, "argument-hint");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t i;
	json_t *word;

	if (!json_is_array(list))
		return frontmatter_text(front, "argument-hint");
	json_array_foreach((json_t *)list, i, word) {
		buf_str(&out, i ? ", " : "[");
		buf_span(&out, json_span(word));
	}
	buf_str(&out, out.len ? "]" : "");
	return mem_strdup(out.len ? out.data : "");
}

/* What describes a command that does not describe itself. */
static char *first_line(struct span text)
{
	struct span line = { 0 };

	while (!line.len && line_next(&text, &line))
		line = span_trim(line);
	line = utf8_head(line, COMMAND_ABOUT_MAX);
	return line.len ? mem_dup(line.data, line.len) : NULL;
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
		about = first_line(front.body);
	hint = argument_hint(&front);
	if (about)
		json_object_set_new(value, "description", json_text(span_str(about)));
	if (hint && *hint)
		json_object_set_new(value, "argument-hint", json_text(span_str(hint)));
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
