/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions put in, brought up to date, and taken out. */
#include "install/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "install/private.h"

#define CLAUDE_MANIFEST ".claude-plugin/plugin.json"

/* ---- putting it in ------------------------------------------------------------------- */

void install_release(struct install *install)
{
	if (install->stage)
		install_stage_close(install->stage);
	free(install->stage);
	free(install->folder);
	free(install->consent);
	free(install->brings);
	free(install->replaces);
	json_decref(install->manifest);
	json_decref(install->origin);
	*install = (struct install){ 0 };
}

static const char *install_name(const struct install *install)
{
	return json_string_value(json_object_get(install->manifest, "name"));
}

static bool is_link(const struct install *install)
{
	return span_eq(json_span(json_object_get(install->origin, "type")), SPAN("link"));
}

/* As Gemini CLI writes it, and "archive", which it does not have and leaves alone. */
static json_t *origin_begin(const struct install_wish *wish, const struct install_source *source)
{
	const char *type = wish->link                        ? "link" :
	                   source->kind == SOURCE_FOLDER     ? "local" :
	                   source->kind == SOURCE_FILE ||
	                           source->kind == SOURCE_URL ? "archive" : "git";
	json_t *origin = json_pack("{s:o, s:s}", "source", json_text(span_str(source->text)),
	                           "type", type);

	if (wish->ref)
		json_object_set_new(origin, "ref", json_text(span_str(wish->ref)));
	if (wish->path)
		json_object_set_new(origin, "path", json_text(span_str(wish->path)));
	if (wish->plugin)
		json_object_set_new(origin, "marketplace", json_text(span_str(wish->plugin)));
	if (wish->format)
		json_object_set_new(origin, "format", json_string(wish->format));
	if (wish->auto_update)
		json_object_set_new(origin, "autoUpdate", json_true());
	if (wish->pre_release)
		json_object_set_new(origin, "allowPreRelease", json_true());
	return origin;
}

/* Before anything is fetched. */
static bool origin_may(const json_t *origin, const struct settings *settings, struct err *err)
{
	const char *forbidden = extension_forbidden(settings, origin);

	if (!settings_bool(settings, "admin.extensions.enabled", true))
		return err_set(err, ERR_DENIED_BY_POLICY, "The administrator forbids extensions.");
	return !forbidden || err_set(err, ERR_DENIED_BY_POLICY,
	                             "This extension may not be installed: %s.", forbidden);
}

static bool wish_check(const struct install_wish *wish, const struct install_source *source,
                       struct err *err)
{
	const bool git = source->kind == SOURCE_GIT || source->kind == SOURCE_GITHUB;

	if (wish->link && source->kind != SOURCE_FOLDER)
		return err_set(err, ERR_INVALID_ARGUMENT, "Only a folder can be linked.");
	if (wish->path && source->kind != SOURCE_GIT)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Of a repository alone a part can be taken.");
	return git || (!wish->ref && !wish->auto_update && !wish->pre_release) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "--ref, --auto-update and --pre-release are for git and GitHub alone.");
}

/* The folder of what was fetched that has the manifest: all of it, or the one folder in it, as
 * archives of releases have it. */
static char *content_folder(const struct install_stage *stage)
{
	char *content = mem_printf("%s/content", stage->path), *inner = NULL;
	struct stat status;
	char **names;
	size_t count;

	if (extension_is_in(content) || extension_is_bare(content))
		return content;
	count = door_names(door_folder(content, content), 2, &names);
	if (count == 1)
		inner = mem_printf("%s/%s", content, names[0]);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	/* No link: that would be renamed in place of what it leads to. */
	if (inner && lstat(inner, &status) == 0 && S_ISDIR(status.st_mode) &&
	    (extension_is_in(inner) || extension_is_bare(inner))) {
		free(content);
		return inner;
	}
	free(inner);
	return content;
}

/* Whether the entry of a marketplace says itself which parts the plugin has. */
static bool entry_names_parts(const json_t *manifest)
{
	static const char *const parts[] = { "commands", "agents", "skills", "hooks",
		                             "mcpServers" };
	bool names = false;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		names = names || json_object_get(manifest, parts[i]);
	return names;
}

/* Another's word in place of a manifest. */
static bool manifest_put(struct install *install, const json_t *manifest, const char *whose,
                         struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SETTINGS_BYTES);
	_cleanup_free_ char *path = path_join(install->folder, CLAUDE_MANIFEST);
	json_auto_t *exact = json_copy((json_t *)manifest);

	/* What it names is all that the plugin has. */
	if (entry_names_parts(manifest))
		json_object_set_new(exact, "strict", json_false());
	if (!json_print(&text, exact, 2))
		return err_set(err, ERR_TOO_LARGE, "The %s says too much of it.", whose);
	json_object_set_new(install->origin, "manifest", json_string(whose));
	return door_replace(install->folder, path, buf_view(&text), 0644, err);
}

/* The name of a plugin that has no manifest: that of the folder, repository or archive that it
 * was. */
static bool bare_put(struct install *install, const struct install_wish *wish,
                     const struct install_source *source, struct err *err)
{
	static const char *const ends[] = { "/", ".git", ".tar.gz", ".tgz", ".tar", ".zip" };
	const bool inner = strcmp(install->folder + strlen(install->stage->path), "/content") != 0;
	struct span name = span_str(inner       ? install->folder :
	                            wish->path  ? wish->path :
	                            source->git ? source->git :
	                                          source->text);
	json_auto_t *manifest = NULL;
	size_t begin;

	for (size_t i = 0; i < ARRAY_LEN(ends) && !inner; i++)
		name.len -= span_ends(name, span_str(ends[i])) ? strlen(ends[i]) : 0;
	for (begin = name.len; begin && !strchr("/:", name.data[begin - 1]);)
		begin--;
	manifest = json_pack("{s:o}", "name", json_text(span_skip(name, begin)));
	return manifest_put(install, manifest, "folder", err);
}

/* Whether the files have the manifest that counts, so that the entry's is not needed. */
static bool has_own_manifest(const struct install *install, const struct install_wish *wish)
{
	const bool claude = wish->format &&
	                    !strcmp(wish->format, extension_format_word(EXTENSION_CLAUDE));

	if (claude && entry_names_parts(wish->manifest))
		return extension_has_format(install->folder, EXTENSION_CLAUDE);
	return extension_is_in(install->folder);
}

static bool fetch_or_link(struct install *install, const struct install_wish *wish,
                          const struct install_source *source, const struct home *home,
                          struct err *err)
{
	if (wish->link) {
		install->folder = mem_strdup(source->text);
		return true;
	}
	install->stage = mem_alloc(1, sizeof(*install->stage));
	if (!install_stage_open(home, install->stage, err) ||
	    !install_fetch(wish, source, install->stage, install->origin, err))
		return false;
	/* What a marketplace has the manifest of may be a plugin without one. */
	install->folder = wish->manifest && (source->git || source->kind == SOURCE_FOLDER) ?
	                          mem_printf("%s/content", install->stage->path) :
	                          content_folder(install->stage);
	if (!wish->manifest)
		return !extension_is_bare(install->folder) ||
		       bare_put(install, wish, source, err);
	return has_own_manifest(install, wish) ||
	       manifest_put(install, wish->manifest, "marketplace", err);
}

/* A .env of the source would count as what the user set. */
static bool env_leave_out(struct install *install, struct err *err)
{
	_cleanup_free_ char *path = path_join(install->folder, ".env");
	struct stat status;

	install->env = lstat(path, &status) == 0;
	return !install->env || !install->stage || tree_remove(install->folder, ".env", err);
}

static char *install_text(const struct install *install)
{
	_cleanup_free_ char *version =
		extension_line(json_span(json_object_get(install->manifest, "version")));
	_cleanup_free_ char *shown =
		extension_line(json_span(json_object_get(install->origin, "source")));
	_cleanup_free_ char *tag =
		extension_line(json_span(json_object_get(install->origin, "releaseTag")));
	_cleanup_free_ char *path =
		extension_line(json_span(json_object_get(install->origin, "path")));
	_cleanup_free_ char *plugin =
		extension_line(json_span(json_object_get(install->origin, "marketplace")));
	_cleanup_free_ char *shown_brings =
		install_brings_shown(install->folder, install->manifest);

	return mem_printf("%s extension \"%s\" (%s) from %s%s%s%s%s%s%s. It brings:\n%s%s",
	                  is_link(install) ? "Linking" : "Installing", install_name(install),
	                  version, shown, *path ? ", folder " : "", path,
	                  *tag ? ", release " : "", tag, *plugin ? ", which is " : "", plugin,
	                  shown_brings, install->env ? INSTALL_ENV_LINE : "");
}

/* Says of a manifest that is missing where it was looked for, not in which folder of ours. */
static bool manifest_find(struct install *install, const struct install_source *source,
                          struct err *err)
{
	struct err why = ERR_INIT;

	install->manifest = extension_manifest_read_as(
		install->folder, extension_origin_format(install->origin), NULL, &why);
	if (install->manifest)
		return true;
	if (why.code == ERR_FILE_NOT_FOUND) {
		_cleanup_free_ char *absent = extension_absent_sentence(install->folder,
		                                                        source->text);

		err_set(&why, ERR_FILE_NOT_FOUND, "%s", absent);
	}
	*err = why;
	return false;
}

/* Fetches what the wish names, if settings let that happen, and reads its manifest (install.c). */
static bool install_look(struct install *install, const struct install_wish *wish,
                         const struct install_source *source, const struct settings *settings,
                         struct err *err)
{
	if (!wish_check(wish, source, err))
		return false;
	install->origin = origin_begin(wish, source);
	if (!origin_may(install->origin, settings, err) ||
	    !fetch_or_link(install, wish, source, settings_home(settings), err) ||
	    !manifest_find(install, source, err) || !env_leave_out(install, err))
		return false;
	install->brings = install_brings(install->folder, install->manifest);
	return true;
}

static bool install_find(struct install *install, const struct install_wish *wish,
                         const struct install_source *source, const struct settings *settings,
                         struct err *err)
{
	if (!install_look(install, wish, source, settings, err))
		return false;
	if (extension_named(extensions_installed(settings), install_name(install)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" is already installed. Uninstall it first.",
		               install_name(install));
	install->consent = install_text(install);
	install->asks = true;
	return true;
}

/* Fills in the wish what a marketplace says of PLUGIN@MARKETPLACE; *ret_plugin, a new reference,
 * holds its texts. Errors as of market_plugin. */
static bool install_wish_plugin(const char *word, const struct home *home,
                                struct install_wish *wish, json_t **ret_plugin, struct err *err)
{
	json_t *plugin = market_plugin(word, home, err);

	if (!plugin)
		return false;
	wish->plugin = word;
	wish->source = json_string_value(json_object_get(plugin, "source"));
	wish->ref = json_string_value(json_object_get(plugin, "ref"));
	wish->path = json_string_value(json_object_get(plugin, "path"));
	wish->manifest = json_object_get(plugin, "manifest");
	wish->format = json_string_value(json_object_get(plugin, "format"));
	*ret_plugin = plugin;
	return true;
}

bool install_open(const struct install_wish *said, const struct settings *settings,
                  struct install *ret, struct err *err)
{
	_cleanup_source_ struct install_source source = { 0 };
	json_auto_t *plugin = NULL;
	struct install_wish wish = *said;
	struct install install = { 0 };

	if (market_is_plugin(said->source)) {
		if (said->link || said->ref)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "Which files a plugin has is for its marketplace to say.");
		if (!install_wish_plugin(said->source, settings_home(settings), &wish, &plugin,
		                         err))
			return false;
	}
	if (!source_parse(wish.source, &source, err))
		return false;
	if (!install_find(&install, &wish, &source, settings, err)) {
		install_release(&install);
		return false;
	}
	*ret = install;
	return true;
}

/* Writes where it came from into its folder. */
static bool origin_write(const struct install *install, const char *root, const char *folder,
                         struct err *err)
{
	_cleanup_free_ char *file = path_join(folder, EXTENSION_ORIGIN);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SETTINGS_BYTES);
	struct err ignored = ERR_INIT;

	/* One that the extension brings, of whatever kind, is none of ours. */
	(void)tree_remove(folder, EXTENSION_ORIGIN, &ignored);
	json_print(&text, install->origin, 2);
	return door_replace(root, file, buf_view(&text), 0600, err);
}

/* Renames what was fetched to NAME among the extensions, where nothing is yet; or exchanges it with
 * what it replaces, which goes with the stage. */
static bool stage_place(const struct install *install, const char *name, struct err *err)
{
	const struct install_stage *stage = install->stage;
	const unsigned how = install->replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE;
	_cleanup_fd_ int from = open(stage->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int to = open(stage->extensions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *inner = install->folder + strlen(stage->path) + 1;

	if (from >= 0 && to >= 0 && renameat2(from, inner, to, name, how) == 0)
		return true;
	return errno == EEXIST ? err_set(err, ERR_INVALID_ARGUMENT, "There is %s/%s already.",
	                                 stage->extensions, name) :
	                         err_set_errno(err, errno, "Cannot make %s/%s", stage->extensions,
	                                       name);
}

static bool link_place(const struct install *install, const char *extensions, const char *name,
                       struct err *err)
{
	_cleanup_free_ char *placed = path_join(extensions, name);

	if (door_is_folder(placed))
		return err_set(err, ERR_INVALID_ARGUMENT, "There is %s already.", placed);
	return origin_write(install, extensions, placed, err);
}

bool install_do(const struct install *install, const struct settings *settings, struct err *err)
{
	const struct home *home = settings_home(settings);
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	_cleanup_free_ char *extensions = gemini ? home_make(gemini, "extensions", err) : NULL;
	const char *name = install_name(install);
	const char *entry = install->replaces ? install->replaces : name;
	_cleanup_free_ char *placed = extensions ? path_join(extensions, entry) : NULL;
	struct err ignored = ERR_INIT;

	if (!extensions)
		return false;
	if (install->stage ? !origin_write(install, install->folder, install->folder, err) ||
	                             !stage_place(install, entry, err) :
	                     !link_place(install, extensions, name, err))
		return false;
	/* Of a linked one no files are remembered: they are the user's to change. */
	if (install->stage ? extension_consent_record(home, name, placed, install->brings, err) :
	                     extension_consent_forget(home, name, err)) {
		if (install->replaces ||
		    extension_enable_in(home, name, home_user(home), true, err))
			return true;
	}
	if (install->replaces)
		return false;
	tree_remove(extensions, name, &ignored);
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
	if (extension && extension->data) {
		_cleanup_free_ char *above = path_folder(extension->data);
		struct err ignored = ERR_INIT;

		(void)tree_remove(above, extension->name, &ignored);
	}
	return tree_remove(folder, entry, err) &&
	       extension_consent_forget(home, extension ? extension->name : name, err) &&
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
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a "
			"folder.", said);
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

/* Installed extensions brought up to date, and what changes by that. */

enum { CHANGES_BYTES = 1 << 20 };

/* ---- what changes --------------------------------------------------------------------- */

static bool lines_have(struct span lines, struct span line)
{
	struct span one;

	while (line_next(&lines, &one))
		if (span_eq(one, line))
			return true;
	return false;
}

/* Lines of `from`, with a mark in place of their first blank where `other` has them not. */
static void put_changes(struct buf *out, const char *from, const char *other, char mark,
                        bool unchanged)
{
	struct span rest = span_str(from), line;

	while (line_next(&rest, &line)) {
		const bool known = lines_have(span_str(other), line);

		if (known && !unchanged)
			continue;
		buf_char(out, known ? ' ' : mark);
		buf_span(out, span_skip(line, 1));
	}
}

/* What the user has said yes to; where that is not known, what the files bring now. */
static char *brings_before(const struct extension *extension, const struct home *home)
{
	struct err ignored = ERR_INIT;
	json_auto_t *consents = extension_consents(home, &ignored), *said = NULL;
	const char *kept = json_string_value(
		json_object_get(json_object_get(consents, extension->name), "brings"));

	if (kept)
		return mem_strdup(kept);
	said = extension_manifest_read(extension->folder, NULL, &ignored);
	return install_brings(extension->folder, said);
}

/* Compares an extension's contents (`brings`, lines of install_brings) with those that the user has
 * approved: the first blank of a line becomes "+" if it is new, "-" if it was removed.  *ret_any:
 * they differ.  The caller frees. */
static char *contents_changes(const struct extension *extension, const struct home *home,
                              const char *brings, bool *ret_any)
{
	_cleanup_free_ char *before = brings_before(extension, home);
	_cleanup_buf_ struct buf out = BUF_INIT(CHANGES_BYTES);

	put_changes(&out, brings, before, '+', true);
	put_changes(&out, before, brings, '-', false);
	*ret_any = strcmp(before, brings) != 0;
	return mem_printf("%s", out.data ? out.data : "");
}

char *install_approval(const struct extension *extension, const struct home *home,
                       char **ret_brings, struct err *err)
{
	json_auto_t *said = NULL;
	_cleanup_free_ char *changes = NULL, *files = NULL;
	bool any;

	if (strcmp(extension->folder, extension->installed) != 0) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "Extension \"%s\" is linked: its files are yours to change.",
		        extension->name);
		return NULL;
	}
	said = extension_manifest_read(extension->folder, NULL, err);
	if (!said)
		return NULL;
	*ret_brings = install_brings(extension->folder, said);
	changes = contents_changes(extension, home, *ret_brings, &any);
	files = extension_changed_files(home, extension->name, extension->folder);
	return mem_printf("%s%s%s%sExtension \"%s\" (%s) now brings (+ added, - "
	                  "removed):\n%s", *files ? "Files of extension \"" : "",
	                  *files ? extension->name : "", *files ? "\" are others now:\n" : "",
	                  files, extension->name, extension->version, changes);
}

/* ---- an update ------------------------------------------------------------------------ */

static bool update_may(const struct extension *extension, const struct home *home, struct err *err)
{
	const char *type = json_string_value(json_object_get(extension->origin, "type"));
	_cleanup_free_ char *folder = extensions_folder(home);
	_cleanup_free_ char *real = realpath(folder, NULL);
	_cleanup_free_ char *place = path_join(real ? real : folder, extension->entry);

	if (type && !strcmp(type, "link"))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" is linked: its files are used where they are.",
		               extension->name);
	if (!json_string_length(json_object_get(extension->origin, "source")))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" cannot be updated: nothing says where it came "
		               "from.", extension->name);
	return !strcmp(place, extension->installed) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "Extension \"%s\" is a link of yours in %s: update it where it is.",
	               extension->name, folder);
}

/* What the user has set stays. */
static bool keep_values(const struct extension *extension, const char *into, struct err *err)
{
	_cleanup_free_ char *from = path_join(extension->installed, ".env");
	_cleanup_free_ char *to = path_join(into, ".env");
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (!door_read(extension->installed, from, LIMIT_SETTINGS_BYTES, &text, err))
		return false;
	if (!text.data)
		return true;
	(void)tree_remove(into, ".env", &ignored);
	return door_replace(into, to, file_text_span(&text), 0600, err);
}

static bool is_same_content(const struct extension *extension, const char *folder, bool *ret,
                            struct err *err)
{
	struct err ignored = ERR_INIT;
	struct sha256 before, after;

	if (!extension_content_hash(folder, &after, err))
		return false;
	*ret = extension_content_hash(extension->installed, &before, &ignored) &&
	       sha256_eq(&before, &after);
	return true;
}

/* ---- whether there is anything new --------------------------------------------------------- */

static bool origin_has(const json_t *origin, const char *name, const char *text)
{
	return span_eq(json_span(json_object_get(origin, name)), span_str(text ? text : ""));
}

/* By its server's word; "no" also where that does not say. */
static bool server_has_the_same(const json_t *origin, const struct install_wish *wish,
                                const struct install_source *source)
{
	const struct git_place place = { source->git, wish->ref, wish->path };
	_cleanup_free_ char *url = NULL, *now = NULL;
	const char *recorded = "commit";
	struct err ignored = ERR_INIT;

	if (source->kind == SOURCE_GITHUB &&
	    !github_release(source, wish->ref, wish->pre_release, &url, &now, &ignored))
		return false;
	if (now)
		recorded = "releaseTag";
	else if (source->kind == SOURCE_URL)
		recorded = "mark";
	else if (!source->git)
		return false;
	if (!json_object_get(origin, recorded))
		return false;
	if (!now)
		now = source->git ? git_remote_commit(&place, &ignored) :
		                    install_download_mark(source->text);
	return now && origin_has(origin, recorded, now);
}

/* Whether an update would bring what is installed, as it was installed. */
static bool update_is_idle(const struct extension *extension, const struct install_wish *wish,
                           const struct install_source *source, const struct home *home)
{
	const json_t *origin = extension->origin;
	struct err err = ERR_INIT;
	json_auto_t *consents = extension_consents(home, &err);

	return err.code == ERR_NONE && json_object_get(consents, extension->name) &&
	       extension_consent_holds(home, consents, extension->name, extension->folder) &&
	       origin_has(origin, "source", wish->source) && origin_has(origin, "ref", wish->ref) &&
	       origin_has(origin, "path", wish->path) && !json_object_get(origin, "manifest") &&
	       server_has_the_same(origin, wish, source);
}

/* Numbers by their value, other text by its bytes; one that is not known is lower. */
static bool version_is_lower(const char *now, const char *before)
{
	return strverscmp(now ? now : "", before ? before : "") < 0;
}

static char *update_text(const struct install *install, const struct extension *extension,
                         const struct home *home, const char *changes)
{
	_cleanup_free_ char *files =
		install_runs_programs(install->brings) ?
			extension_changed_files(home, extension->name, install->folder) :
			mem_strdup("");
	_cleanup_free_ char *version =
		extension_line(json_span(json_object_get(install->manifest, "version")));
	_cleanup_free_ char *source =
		extension_line(json_span(json_object_get(install->origin, "source")));

	return mem_printf("Updating extension \"%s\" from %s to %s%s, out of %s. It brings (+ "
	                  "added, - removed):\n%s%s%s%s", extension->name,
	                  extension->version, version,
	                  version_is_lower(version, extension->version) ? ", a lower version" : "",
	                  source, changes, install->env ? INSTALL_ENV_LINE : "",
	                  *files ? "Files that change:\n" : "", files);
}

static bool update_find(struct install *install, const struct extension *extension,
                        const struct settings *settings, struct err *err)
{
	const json_t *origin = extension->origin;
	const struct home *home = settings_home(settings);
	struct install_wish wish = {
		.source = json_string_value(json_object_get(origin, "source")),
		.ref = json_string_value(json_object_get(origin, "ref")),
		.path = json_string_value(json_object_get(origin, "path")),
		.auto_update = json_is_true(json_object_get(origin, "autoUpdate")),
		.pre_release = json_is_true(json_object_get(origin, "allowPreRelease")),
	};
	const char *listed = json_string_value(json_object_get(origin, "marketplace")), *name;
	_cleanup_source_ struct install_source source = { 0 };
	_cleanup_free_ char *changes = NULL;
	json_auto_t *plugin = NULL;

	if ((listed && !install_wish_plugin(listed, home, &wish, &plugin, err)) ||
	    !source_parse(wish.source, &source, err))
		return false;
	install->current = update_is_idle(extension, &wish, &source, home);
	if (install->current)
		return true;
	if (!install_look(install, &wish, &source, settings, err))
		return false;
	/* Exactly as given when it was installed: the key store's entry is named after it. */
	json_object_set_new(install->origin, "source", json_text(span_str(wish.source)));
	name = json_string_value(json_object_get(install->manifest, "name"));
	if (strcmp(name, extension->name) != 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Extension \"%s\" is named \"%s\" now: uninstall it, and install "
		               "that.", extension->name, name);
	if (!is_same_content(extension, install->folder, &install->same, err) ||
	    !keep_values(extension, install->folder, err))
		return false;
	changes = contents_changes(extension, home, install->brings, &install->asks);
	/* A different source may be a different author, different files are different programs, and
	 * a lower version may have vulnerabilities that a later one fixed. */
	install->asks = install->asks || !origin_has(origin, "source", wish.source) ||
	                !origin_has(origin, "path", wish.path) ||
	                (!install->same && install_runs_programs(install->brings)) ||
	                version_is_lower(json_string_value(json_object_get(install->manifest,
	                                                                   "version")),
	                                 extension->version);
	install->consent = update_text(install, extension, home, changes);
	install->replaces = mem_strdup(extension->entry);
	return true;
}

bool install_update_open(const struct extension *extension, const struct settings *settings,
                         struct install *ret, struct err *err)
{
	struct install install = { 0 };

	if (!update_may(extension, settings_home(settings), err))
		return false;
	if (!update_find(&install, extension, settings, err)) {
		install_release(&install);
		return false;
	}
	*ret = install;
	return true;
}
