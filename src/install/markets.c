/* SPDX-License-Identifier: Apache-2.0 */
/* Where lists of plugins are: read from there, and kept by name. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "data/toml.h"
#include "install/private.h"

enum { MARKETS_DEPTH = 16, EXPLORED_DEPTH = 64, MARKETS_MAX = 200 };

/* Of a folder or a repository the first that it has. */
static const char *const market_files[] = { ".claude-plugin/marketplace.json",
	                                    ".agents/plugins/marketplace.json", NULL };

/* ---- reading one ------------------------------------------------------------------------ */

static bool market_of_folder(const char *folder, struct market *ret, struct err *err)
{
	_cleanup_free_ char *shown = extension_line(span_str(folder));
	const struct market_place place = { .shown = shown, .root = folder, .own = true };

	for (size_t i = 0; market_files[i]; i++) {
		_cleanup_free_ char *path = path_join(folder, market_files[i]);
		_cleanup_file_text_ struct file_text text = { 0 };

		if (!door_read(folder, path, LIMIT_MARKET_BYTES, &text, err))
			return false;
		if (text.data)
			return market_parse(file_text_span(&text), &place, ret, err);
	}
	return err_set(err, ERR_FILE_NOT_FOUND, "There is no %s and no %s in %.500s.",
	               market_files[0], market_files[1], shown);
}

static bool market_of_file(const char *path, struct market *ret, struct err *err)
{
	_cleanup_free_ char *shown = extension_line(span_str(path)), *folder = path_folder(path);
	const struct market_place place = { .shown = shown, .own = true };
	_cleanup_file_text_ struct file_text text = { 0 };

	for (size_t i = 0; market_files[i]; i++)
		if (span_ends(span_str(path), span_str(market_files[i]))) {
			folder[strlen(path) - strlen(market_files[i]) - 1] = '\0';
			return market_of_folder(folder, ret, err);
		}
	return door_read(folder, path, LIMIT_MARKET_BYTES, &text, err) &&
	       market_parse(file_text_span(&text), &place, ret, err);
}

static bool market_of_repository(const struct install_source *source, const char *ref,
                                 const struct home *home, struct market *ret, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MARKET_BYTES);
	const struct git_place git = { source->git, ref, NULL };
	const struct market_place place = {
		.shown = source->text, .git = source->git, .ref = ref,
		.own = !strncasecmp(source->git, "file:", 5),
	};
	struct install_stage stage;
	size_t which;
	bool ok;

	if (!install_stage_open(home, &stage, err))
		return false;
	ok = git_read(&git, stage.path, market_files, &text, &which, err) &&
	     market_parse(buf_view(&text), &place, ret, err);
	install_stage_close(&stage);
	return ok;
}

static bool url_is_list(const char *word)
{
	return (!strncasecmp(word, "https://", 8) || !strncasecmp(word, "http://", 7)) &&
	       span_ends(span_of(word, strcspn(word, "?#")), SPAN(".json"));
}

static bool market_open(const char *word, const char *ref, const struct home *home,
                        struct market *ret, struct err *err)
{
	_cleanup_source_ struct install_source source = { 0 };

	if (!source_parse(word, &source, err))
		return false;
	if (ref && (!source.git || url_is_list(word)))
		return err_set(err, ERR_INVALID_ARGUMENT, "--ref is for repositories alone.");
	if (source.kind == SOURCE_FOLDER)
		return market_of_folder(source.text, ret, err);
	if (source.kind == SOURCE_FILE)
		return market_of_file(source.text, ret, err);
	if (url_is_list(word)) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MARKET_BYTES);
		const struct market_place place = { .shown = word };

		return install_download_text(word, &text, err) &&
		       market_parse(buf_view(&text), &place, ret, err);
	}
	if (source.git)
		return market_of_repository(&source, ref, home, ret, err);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%.500s is the address of an archive, not of a list.", word);
}

/* ---- those that are kept ------------------------------------------------------------------ */

static char *markets_path(const struct home *home)
{
	return mem_printf("%s/hasp-marketplaces.json", home_gemini(home));
}

/* What Claude Code says of one's place, as a word; the caller frees. NULL: of another kind. */
static char *claude_word(const json_t *source)
{
	static const struct {
		const char *kind, *member, *before, *after;
	} rows[] = {
		{ "github", "repo", "https://github.com/", ".git" }, { "git", "url", "", "" },
		{ "url", "url", "", "" }, { "directory", "path", "", "" },
		{ "file", "path", "", "" },
	};
	const struct span kind = json_span(json_object_get(source, "source"));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = json_string_value(json_object_get(source, rows[i].member));

		if (value && span_eq(kind, span_str(rows[i].kind)))
			return mem_printf("%s%s%s", rows[i].before, value, rows[i].after);
	}
	return NULL;
}

/* One more, unless there is one of that name, or it names no place (`source` is NULL, or ""). */
static void market_put(json_t *all, const char *name, const char *source, json_t *ref,
                       const char *kept_by)
{
	if (source && *source && market_name_is_fine(span_str(name)) &&
	    !json_object_get(all, name) && json_object_size(all) < MARKETS_MAX)
		json_object_set_new(all, name,
		                    json_pack("{s:o, s:O*, s:s}", "source",
		                              json_text(span_str(source)), "ref",
		                              json_is_string(ref) ? ref : NULL, "keptBy",
		                              kept_by));
}

static void add_claude_markets(const struct home *home, json_t *all, json_t *notices)
{
	_cleanup_free_ char *path = mem_printf("%s/.claude/plugins/known_marketplaces.json",
	                                       home_user(home));
	struct err err = ERR_INIT;
	json_auto_t *said = home_object_read(path, MARKETS_DEPTH, &err);
	const char *name;
	json_t *one;

	if (!said)
		json_array_append_new(notices, json_text(span_str(err.message)));
	json_object_foreach(said, name, one) {
		const json_t *source = json_object_get(one, "source");
		_cleanup_free_ char *word = claude_word(source);

		market_put(all, name, word, json_object_get(source, "ref"), "Claude Code");
	}
}

/* Those of its settings, and the list that it has for the user alone. */
static void add_codex_markets(const struct home *home, json_t *all, json_t *notices)
{
	const char *moved = getenv("CODEX_HOME");
	_cleanup_free_ char *usual = mem_printf("%s/.codex", home_user(home));
	_cleanup_free_ char *path = path_join(moved && *moved == '/' ? moved : usual,
	                                      "config.toml");
	_cleanup_free_ char *own = path_join(home_user(home), market_files[1]);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT, ignored = ERR_INIT;
	json_auto_t *settings = NULL, *listed = home_object_read(own, EXPLORED_DEPTH, &ignored);
	const char *name;
	json_t *one;

	if (!file_read(path, LIMIT_SETTINGS_BYTES, &text, &err) ||
	    (text.data && !toml_parse(file_text_span(&text), &settings, &err))) {
		_cleanup_free_ char *sentence = mem_printf("%s: %s", path, err.message);

		json_array_append_new(notices, json_text(span_str(sentence)));
	}
	json_object_foreach(json_object_get(settings, "marketplaces"), name, one)
		market_put(all, name, json_string_value(json_object_get(one, "source")),
		           json_object_get(one, "ref"), "Codex");
	name = json_string_value(json_object_get(listed, "name"));
	if (name)
		market_put(all, name, own, NULL, "Codex");
}

json_t *markets_kept(const struct home *home, json_t *notices)
{
	_cleanup_free_ char *path = markets_path(home);
	struct err err = ERR_INIT;
	json_auto_t *own = home_object_read(path, MARKETS_DEPTH, &err);
	json_t *all = json_object(), *one;
	const char *name;

	if (!own)
		json_array_append_new(notices, json_text(span_str(err.message)));
	json_object_foreach(own, name, one)
		market_put(all, name, json_string_value(json_object_get(one, "source")),
		           json_object_get(one, "ref"), "hasp");
	add_claude_markets(home, all, notices);
	add_codex_markets(home, all, notices);
	return all;
}

/* The one of that name, letters' cases aside; *ret_name is as it is written. NULL: none is. */
static const json_t *market_named(const json_t *kept, const char *name, const char **ret_name)
{
	const char *other;
	json_t *one;

	json_object_foreach((json_t *)kept, other, one)
		if (!strcasecmp(other, name)) {
			*ret_name = other;
			return one;
		}
	return NULL;
}

/* Whether no other marketplace has the name; what is read of it has its lock. */
static bool market_name_is_free(const struct home *home, const char *wanted, const char *source,
                                struct err *err)
{
	json_auto_t *notices = json_array(), *kept = markets_kept(home, notices);
	const char *name;
	const json_t *other = market_named(kept, wanted, &name);

	return !other || span_eq(json_span(json_object_get(other, "source")), span_str(source)) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "There is another marketplace \"%s\", %.300s (kept by %s).", name,
	               json_string_value(json_object_get(other, "source")),
	               json_string_value(json_object_get(other, "keptBy")));
}

bool market_keep(const struct home *home, const char *word, const char *ref, char **ret_name,
                 struct err *err)
{
	_cleanup_free_ char *real = strstr(word, "://") ? NULL : realpath(word, NULL);
	_cleanup_free_ char *path = markets_path(home);
	_cleanup_lock_ char *lock = NULL;
	json_auto_t *all = NULL;
	const char *source = real ? real : word;
	struct market market;
	bool ok = false;

	if (!market_open(word, ref, home, &market, err))
		return false;
	lock = home_lock_file(path, err);
	all = lock ? home_object_read(path, MARKETS_DEPTH, err) : NULL;
	if (all && market_name_is_free(home, market.name, source, err)) {
		json_object_set_new(all, market.name,
		                    json_pack("{s:o, s:o*}", "source", json_name(source), "ref",
		                              ref ? json_text(span_str(ref)) : NULL));
		ok = home_object_write(path, all, err);
	}
	if (ok)
		*ret_name = mem_strdup(market.name);
	market_release(&market);
	return ok;
}

bool market_forget(const struct home *home, const char *name, struct err *err)
{
	_cleanup_free_ char *path = markets_path(home);
	_cleanup_lock_ char *lock = home_lock_file(path, err);
	json_auto_t *all = lock ? home_object_read(path, MARKETS_DEPTH, err) : NULL;

	if (!all)
		return false;
	if (json_object_del(all, name) != 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp keeps no marketplace \"%.100s\".",
		               name);
	return home_object_write(path, all, err);
}

/* ---- by name ------------------------------------------------------------------------------ */

bool market_is_plugin(const char *word)
{
	const char *at = strchr(word, '@');
	struct stat status;

	return at && market_name_is_fine(span_of(word, (size_t)(at - word))) &&
	       market_name_is_fine(span_str(at + 1)) && stat(word, &status) != 0;
}

/* A plugin that stands in the marketplace's folder does so by its links, too. */
static bool plugin_stays(const json_t *plugin, struct err *err)
{
	const char *root = json_string_value(json_object_get(plugin, "inside"));
	const char *source = json_string_value(json_object_get(plugin, "source"));
	_cleanup_free_ char *real = root ? realpath(source, NULL) : NULL;

	if (!root)
		return true;
	if (!real)
		return err_set(err, ERR_FILE_NOT_FOUND, "The folder %.500s does not "
			"exist.", source);
	return path_is_under(real, root) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "%.500s is a link that leads out of the marketplace.", source);
}

json_t *market_plugin(const char *word, const struct home *home, struct err *err)
{
	const char *at = strchr(word, '@'), *known;
	json_auto_t *notices = json_array(), *kept = markets_kept(home, notices);
	_cleanup_free_ char *name = mem_dup(word, (size_t)(at - word));
	struct market market;
	json_t *plugin, *found = NULL;
	const json_t *one = market_named(kept, at + 1, &known);
	const char *problem;
	size_t i;

	if (!one) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "There is no marketplace \"%.100s\". \"hasp extensions marketplace add "
		        "SOURCE\" adds one.", at + 1);
		return NULL;
	}
	if (!market_open(json_string_value(json_object_get(one, "source")),
	                 json_string_value(json_object_get(one, "ref")), home, &market, err))
		return NULL;
	json_array_foreach(market.plugins, i, plugin)
		if (!strcasecmp(json_string_value(json_object_get(plugin, "name")), name))
			found = json_incref(plugin);
	market_release(&market);
	problem = json_string_value(json_object_get(found, "problem"));
	if (!found)
		err_set(err, ERR_INVALID_ARGUMENT, "There is no \"%s\" in the marketplace \"%s\".",
		        name, known);
	else if (problem)
		err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" cannot be installed: %s.", name,
		        problem);
	if (found && (problem || !plugin_stays(found, err))) {
		json_decref(found);
		return NULL;
	}
	return found;
}

/* ---- for people --------------------------------------------------------------------------- */

/* The extension that the user has of it: it came from there, else one that has its name.
 * *ret_sure: the former. */
static const struct extension *plugin_installed(const struct market *market, const json_t *plugin,
                                                const struct extensions *all, bool *ret_sure)
{
	const char *name = json_string_value(json_object_get(plugin, "name"));
	const struct span source = json_span(json_object_get(plugin, "source"));
	const struct span path = json_span(json_object_get(plugin, "path"));
	_cleanup_free_ char *word = mem_printf("%s@%s", name, market->name);

	*ret_sure = true;
	for (size_t i = 0; i < all->count; i++) {
		const json_t *origin = all->at[i].origin;
		const char *listed = json_string_value(json_object_get(origin, "marketplace"));

		if ((listed && !strcasecmp(listed, word)) ||
		    (source.len && span_eq(json_span(json_object_get(origin, "source")), source) &&
		     span_eq(json_span(json_object_get(origin, "path")), path)))
			return &all->at[i];
	}
	*ret_sure = false;
	for (size_t i = 0; i < all->count; i++)
		if (!strcasecmp(all->at[i].name, name))
			return &all->at[i];
	return NULL;
}

static json_t *plugin_row(const struct market *market, const json_t *plugin,
                          const struct extensions *all)
{
	static const char *const shown[] = { "name", "version", "description", "from", "problem" };
	bool sure;
	const struct extension *installed = plugin_installed(market, plugin, all, &sure);
	json_t *row = json_object();

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (json_object_get(plugin, shown[i]))
			json_object_set(row, shown[i], json_object_get(plugin, shown[i]));
	if (installed)
		json_object_set_new(row, sure ? "installed" : "taken",
		                    json_cstr(sure ? installed->version : installed->name));
	return row;
}

static json_t *explore_one(const char *name, const char *word, const char *ref,
                           const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);
	_cleanup_free_ char *shown = extension_line(span_str(word));
	json_t *row = json_pack("{s:o, s:o}", "name", json_text(span_str(name ? name : "")),
	                        "source", json_text(span_str(shown)));
	json_t *rows = json_array();
	struct err err = ERR_INIT;
	struct market market;
	const json_t *plugin;
	size_t i;

	json_object_set_new(row, "kept", json_boolean(name));
	json_object_set_new(row, "plugins", rows);
	if (!market_open(word, ref, settings_home(settings), &market, &err)) {
		json_object_set_new(row, "error", json_text(span_str(err.message)));
		return row;
	}
	if (!name)
		json_object_set_new(row, "name", json_string(market.name));
	json_object_set_new(row, "format", json_string(market.format));
	json_object_set(row, "notices", market.notices);
	json_array_foreach(market.plugins, i, plugin)
		json_array_append_new(rows, plugin_row(&market, plugin, all));
	market_release(&market);
	return row;
}

json_t *market_explore(const char *word, const struct settings *settings, json_t *notices)
{
	json_auto_t *kept = markets_kept(settings_home(settings), notices);
	const char *name, *named = NULL;
	json_t *all = json_array(), *one;

	if (word && !market_named(kept, word, &named))
		json_array_append_new(all, explore_one(NULL, word, NULL, settings));
	json_object_foreach(kept, name, one)
		if (!word || named == name)
			json_array_append_new(
				all, explore_one(name,
			                         json_string_value(json_object_get(one, "source")),
			                         json_string_value(json_object_get(one, "ref")),
			                         settings));
	return all;
}
