/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions put in and taken out, and all that one brings. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/commands.h"
#include "catalog/skills.h"
#include "cli/command/private.h"
#include "data/json.h"

enum {
	CONSENT_BYTES = 256 << 10,
	CONSENT_LINE_BYTES = 4000, /* of what one thing says of itself */
	CONSENT_FILES_MAX = 1000,  /* of one folder */
};

/* ---- what it brings ------------------------------------------------------------------ */

struct bringing {
	const char *folder;
	const json_t *manifest;
	struct buf out;
};

/* "  WHAT: TEXT"; what is a stranger's is made harmless. */
static void consent_line(struct bringing *bringing, const char *what, const char *name,
                       const char *text)
{
	_cleanup_free_ char *whole = mem_printf("%s%s%s%s%s", what, *name ? " " : "", name,
	                                        *text ? ": " : "", text);
	_cleanup_free_ char *line =
		extension_line(utf8_head(span_str(whole), CONSENT_LINE_BYTES));

	buf_printf(&bringing->out, "  %s%s\n", line,
	           strlen(whole) > CONSENT_LINE_BYTES ? " ... (cut)" : "");
}

static void put_word(struct buf *out, const json_t *word)
{
	if (json_is_string(word) && json_string_length(word) &&
	    !strpbrk(json_string_value(word), " \t\n\"'"))
		buf_span(out, json_span(word));
	else
		json_print(out, word, 0);
}

/* Whose tokens it gets. */
static void consent_provider(const json_t *entry, struct buf *text)
{
	const json_t *audience = json_object_get(entry, "targetAudience");

	if (!json_object_get(entry, "authProviderType"))
		return;
	buf_str(text, ", with your login or a token of Google's: ");
	put_word(text, json_object_get(entry, "authProviderType"));
	if (audience) {
		buf_str(text, " for ");
		put_word(text, audience);
	}
}

static void consent_servers(struct bringing *bringing)
{
	const json_t *servers = json_object_get(bringing->manifest, "mcpServers"), *word;
	const char *name;
	json_t *entry;
	size_t i;

	json_object_foreach((json_t *)servers, name, entry) {
		static const char *const addresses[] = { "httpUrl", "url", "tcp" };
		_cleanup_buf_ struct buf text = BUF_INIT(CONSENT_BYTES);
		const json_t *command = json_object_get(entry, "command");

		buf_str(&text, command ? "run " : "contact ");
		if (command)
			put_word(&text, command);
		json_array_foreach(json_object_get(entry, "args"), i, word) {
			buf_char(&text, ' ');
			put_word(&text, word);
		}
		for (i = 0; i < ARRAY_LEN(addresses) && !command; i++)
			if (json_object_get(entry, addresses[i]))
				buf_span(&text, json_span(json_object_get(entry, addresses[i])));
		consent_provider(entry, &text);
		consent_line(bringing, "MCP server", name, text.data);
	}
}

static void consent_texts(struct bringing *bringing, const char *member, const char *what)
{
	const json_t *said = json_object_get(bringing->manifest, member), *one;
	size_t i;

	if (json_is_string(said))
		consent_line(bringing, what, "", json_string_value(said));
	json_array_foreach(said, i, one)
		if (json_is_string(one))
			consent_line(bringing, what, "", json_string_value(one));
}

static bool bringing_has(const struct bringing *bringing, const char *name)
{
	_cleanup_free_ char *path = path_join(bringing->folder, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	return door_read(bringing->folder, path, LIMIT_SETTINGS_BYTES, &text, &ignored) &&
	       text.data;
}

static void consent_hooks(struct bringing *bringing)
{
	_cleanup_free_ char *path = path_join(bringing->folder, "hooks/hooks.json");
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *file = NULL;
	const json_t *groups, *group, *hook;
	struct err err = ERR_INIT;
	const char *event;
	size_t i, k;

	if (!door_read(bringing->folder, path, LIMIT_SETTINGS_BYTES, &text, &err) || !text.data)
		return;
	if (!json_parse_depth(file_text_span(&text), JSON_DEPTH_MAX, &file, &err))
		consent_line(bringing, "hooks that cannot be read", "", err.message);
	json_object_foreach(json_object_get(file, "hooks"), event, groups)
		json_array_foreach(groups, i, group)
			json_array_foreach(json_object_get(group, "hooks"), k, hook) {
				const char *command =
					json_string_value(json_object_get(hook, "command"));

				consent_line(bringing, "hook, which runs outside the sandbox,",
				             event, command ? command : "");
			}
}

static void consent_commands(struct bringing *bringing)
{
	json_auto_t *names = json_array();
	const json_t *name;
	size_t i;

	commands_add_names(bringing->folder, COMMANDS_EXTENSION, names);
	json_array_foreach(names, i, name) {
		_cleanup_free_ char *typed = mem_printf("/%s", json_string_value(name));

		consent_line(bringing, "command", typed, "");
	}
}

static void consent_skill(struct bringing *bringing, const char *name)
{
	_cleanup_free_ char *folder = mem_printf("%s/skills/%s", bringing->folder, name);
	_cleanup_free_ char *file = path_join(folder, "SKILL.md");
	const struct skill skill = { .root = (char *)bringing->folder, .folder = folder,
		                     .file = file };
	json_auto_t *text = NULL;
	struct err ignored = ERR_INIT;

	if (skill_read(&skill, &text, &ignored))
		consent_line(bringing, "skill", json_string_value(json_object_get(text, "name")),
		             json_string_value(json_object_get(text, "description")));
}

static void consent_policy(struct bringing *bringing, const char *name)
{
	if (span_ends(span_str(name), SPAN(".toml")))
		consent_line(bringing, "rules", "", name);
}

static void consent_agent(struct bringing *bringing, const char *name)
{
	if (span_ends(span_str(name), SPAN(".md")))
		consent_line(bringing, "agent", "", name);
}

/* Calls `one` for each name in a folder of it, in their order. */
static void consent_folder(struct bringing *bringing, const char *name,
                         void (*one)(struct bringing *bringing, const char *name))
{
	_cleanup_free_ char *path = path_join(bringing->folder, name);
	char **names;
	const size_t count = door_names(door_folder(bringing->folder, path), CONSENT_FILES_MAX,
	                                &names);

	for (size_t i = 0; i < count; i++) {
		one(bringing, names[i]);
		free(names[i]);
	}
	free(names);
}

static void consent_settings(struct bringing *bringing)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "settings"), i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));
		const char *variable = json_string_value(json_object_get(one, "envVar"));

		if (name && variable)
			consent_line(bringing, "setting", name, variable);
	}
}

char *install_brings(const char *folder, const json_t *manifest)
{
	struct bringing bringing = { folder, manifest, BUF_INIT(CONSENT_BYTES) };
	char *text;

	consent_servers(&bringing);
	consent_hooks(&bringing);
	consent_texts(&bringing, "contextFileName", "instructions");
	if (!json_object_get(manifest, "contextFileName") && bringing_has(&bringing, "GEMINI.md"))
		consent_line(&bringing, "instructions", "", "GEMINI.md");
	consent_commands(&bringing);
	consent_folder(&bringing, "skills", consent_skill);
	consent_folder(&bringing, "agents", consent_agent);
	consent_texts(&bringing, "excludeTools", "takes away the tool");
	consent_folder(&bringing, "policies", consent_policy);
	consent_settings(&bringing);
	text = mem_printf("%s%s", bringing.out.data ? bringing.out.data : "",
	                  bringing.out.overflowed ? "\n  ... and more than can be shown\n" :
	                  bringing.out.len ? "" : "  nothing\n");
	buf_release(&bringing.out);
	return text;
}

/* ---- putting it in ------------------------------------------------------------------- */

void install_release(struct install *install)
{
	free(install->folder);
	free(install->consent);
	json_decref(install->manifest);
	json_decref(install->origin);
	*install = (struct install){ 0 };
}

static const char *install_name(const struct install *install)
{
	return json_string_value(json_object_get(install->manifest, "name"));
}

static bool install_may(const struct install *install, const struct settings *settings,
                        struct err *err)
{
	const char *forbidden = extension_forbidden(settings, install->origin);

	if (!settings_bool(settings, "admin.extensions.enabled", true))
		return err_set(err, ERR_DENIED_BY_POLICY, "The administrator forbids extensions.");
	if (forbidden)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "This extension may not be installed: %s.", forbidden);
	if (extension_named(extensions_installed(settings), install_name(install)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" is already installed. Uninstall it first.",
		               install_name(install));
	return true;
}

bool install_open(const char *folder, const struct settings *settings, bool link,
                  struct install *ret, struct err *err)
{
	struct install install = { .folder = realpath(folder, NULL) };
	_cleanup_free_ char *brings = NULL, *version = NULL, *shown = NULL;

	if (!install.folder || !door_is_folder(install.folder)) {
		free(install.folder);
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no folder %s.", folder);
	}
	install.manifest = extension_manifest_read(install.folder, NULL, err);
	install.origin = json_pack("{s:o, s:s}", "source", json_text(span_str(install.folder)),
	                           "type", link ? "link" : "local");
	if (!install.manifest || !install_may(&install, settings, err)) {
		install_release(&install);
		return false;
	}
	brings = install_brings(install.folder, install.manifest);
	version = extension_line(json_span(json_object_get(install.manifest, "version")));
	shown = extension_line(span_str(install.folder));
	install.consent = mem_printf("%s extension \"%s\" (%s) from %s. It brings:\n%s",
	                             link ? "Linking" : "Installing", install_name(&install),
	                             version, shown, brings);
	*ret = install;
	return true;
}

bool install_do(const struct install *install, const struct settings *settings, struct err *err)
{
	const struct home *home = settings_home(settings);
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	_cleanup_free_ char *folder = gemini ? home_make(gemini, "extensions", err) : NULL;
	const char *name = install_name(install);
	_cleanup_free_ char *placed = folder ? path_join(folder, name) : NULL;
	_cleanup_free_ char *file = placed ? path_join(placed, EXTENSION_ORIGIN) : NULL;
	const bool link = span_eq(json_span(json_object_get(install->origin, "type")),
	                          SPAN("link"));
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SETTINGS_BYTES);
	struct err ignored = ERR_INIT;

	if (!file)
		return false;
	if (link && door_is_folder(placed))
		return err_set(err, ERR_INVALID_ARGUMENT, "There is %s already.", placed);
	if (!link && !tree_copy(install->folder, folder, name, err))
		return false;
	json_print(&text, install->origin, 2);
	if (door_replace(folder, file, buf_view(&text), 0600, err) &&
	    extension_enable_in(home, name, home_user(home), true, err))
		return true;
	tree_remove(folder, name, &ignored);
	return false;
}

/* ---- taking it out ------------------------------------------------------------------- */

bool install_remove(const struct settings *settings, const char *name, struct err *err)
{
	const struct home *home = settings_home(settings);
	const struct extension *extension = extension_named(extensions_installed(settings), name);
	_cleanup_free_ char *folder = extensions_folder(home);
	_cleanup_free_ char *broken = mem_printf("%s/%s", folder, name);
	const char *entry = extension ? extension->entry : name;

	if (!extension &&
	    (!*name || name[0] == '.' || strchr(name, '/') || !door_is_folder(broken)))
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	return tree_remove(folder, entry, err) &&
	       extension_enablement_forget(home, extension ? extension->name : name, err);
}

/* ---- a new one ----------------------------------------------------------------------- */

static bool write_new_file(const char *above, const char *folder, const char *name,
                           const char *text, struct err *err)
{
	_cleanup_free_ char *path = path_join(folder, name);

	return door_replace(above, path, span_str(text), 0644, err);
}

bool install_new(const char *folder, struct err *err)
{
	_cleanup_free_ char *here = realpath(".", NULL);
	_cleanup_free_ char *wanted = path_join(here ? here : "/", folder);
	_cleanup_free_ char *said = path_folder(wanted), *above = realpath(said, NULL);
	const char *name = strrchr(wanted, '/') + 1;
	_cleanup_free_ char *made = NULL, *manifest = NULL, *instructions = NULL;

	if (!above)
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no folder %s.", said);
	if (!extension_name_is_fine(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.100s\" is no name of an extension: letters, digits and \"-\" "
		               "alone.", name);
	made = path_join(above, name);
	if (door_is_folder(made))
		return err_set(err, ERR_INVALID_ARGUMENT, "There is %s already.", made);
	manifest = mem_printf("{\n  \"name\": \"%s\",\n  \"version\": \"1.0.0\",\n"
	                      "  \"contextFileName\": \"GEMINI.md\"\n}\n", name);
	instructions = mem_printf("# %s\n\nWhat the model should know wherever this extension is "
	                          "enabled.\n", name);
	return write_new_file(above, made, EXTENSION_MANIFEST, manifest, err) &&
	       write_new_file(above, made, "GEMINI.md", instructions, err);
}
