/* SPDX-License-Identifier: Apache-2.0 */
/* Installed extensions brought up to date, and what changes by that. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "install/private.h"

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
