/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of plugins, in the formats of three programs, read into one form.
 *
 * What an entry's "source" may be is a table: to take another kind, add a row to `kinds`. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/private.h"

enum {
	MARKET_DEPTH = 64,
	MARKET_PLUGINS_MAX = 10000, /* Gemini CLI's gallery has some thousand */
	MARKET_NOTICES_MAX = 20,
	MARKET_NAME_BYTES = 100,
	MARKET_VERSION_BYTES = 60,
	MARKET_TEXT_BYTES = 300, /* of a description: what people read in a list */
	MARKET_PATH_BYTES = 1000,
};

struct market_reading {
	const struct market_place *place;
	const char *above; /* metadata.pluginRoot, clean; NULL */
	struct market *market;
	json_t *seen;      /* {name in lower case: true} */
};

void market_release(struct market *market)
{
	free(market->name);
	json_decref(market->plugins);
	json_decref(market->notices);
	*market = (struct market){ 0 };
}

/* ---- words ------------------------------------------------------------------------------ */

bool market_name_is_fine(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_is_alnum(name.data[i]) && !strchr("-_.", name.data[i]))
			return false;
	return name.len > 0 && name.len <= MARKET_NAME_BYTES && ascii_is_alnum(name.data[0]) &&
	       ascii_is_alnum(name.data[name.len - 1]) && !memmem(name.data, name.len, "..", 2);
}

/* One line that may be shown, cut. A new reference. */
static json_t *market_line(const json_t *value, size_t max)
{
	_cleanup_free_ char *line = extension_line(utf8_head(json_span(value), max));

	return json_text(span_str(line));
}

/* A path of a list, without "./" in front and "/" at its end; the caller frees.  NULL: it leads
 * out, or has a name that is not taken. */
static char *market_path(struct span said)
{
	struct span rest = said, name;
	_cleanup_buf_ struct buf path = BUF_INIT(MARKET_PATH_BYTES);
	const char *slash;

	if (!said.len || said.len > MARKET_PATH_BYTES || said.data[0] == '/' ||
	    memchr(said.data, '\0', said.len) || memchr(said.data, '\\', said.len))
		return NULL;
	for (size_t i = 0; i < said.len; i++)
		if ((unsigned char)said.data[i] < ' ' || said.data[i] == 0x7f)
			return NULL;
	while (rest.len) {
		slash = memchr(rest.data, '/', rest.len);
		name = slash ? span_head(rest, (size_t)(slash - rest.data)) : rest;
		rest = span_skip(rest, name.len + (slash != NULL));
		if (!name.len || span_eq(name, SPAN(".")))
			continue;
		if (span_eq(name, SPAN("..")) ||
		    (name.len == 4 && !strncasecmp(name.data, ".git", 4)))
			return NULL;
		if (path.len)
			buf_char(&path, '/');
		buf_span(&path, name);
	}
	return mem_dup(path.data ? path.data : "", path.len);
}

static void market_notice(const struct market_reading *reading, const char *what, const char *why)
{
	_cleanup_free_ char *line = extension_line(utf8_head(span_str(what), MARKET_NAME_BYTES));
	_cleanup_free_ char *text = mem_printf("\"%s\" is left out: %s.", line, why);

	if (json_array_size(reading->market->notices) < MARKET_NOTICES_MAX)
		json_array_append_new(reading->market->notices, json_text(span_str(text)));
}

/* ---- where a plugin is -------------------------------------------------------------------- */

#define LEADS_OUT "its path leads out of the marketplace"

/* A path in the marketplace itself. NULL, or the end of a sentence: why it is none. */
static const char *inside_put(const struct market_reading *reading, struct span said,
                              json_t *plugin)
{
	const struct market_place *place = reading->place;
	const bool bare = !span_starts(said, SPAN(".")); /* pluginRoot is for these */
	_cleanup_free_ char *clean = market_path(said), *path = NULL;
	_cleanup_free_ char *from = NULL;

	if (!clean)
		return LEADS_OUT;
	path = bare && reading->above && *reading->above ?
	               mem_printf("%s/%s", reading->above, clean) : mem_strdup(clean);
	if (!place->root && !place->git)
		return "its files are next to the list, of which only the list was downloaded";
	if (place->root) {
		from = *path ? path_join(place->root, path) : mem_strdup(place->root);
		json_object_set_new(plugin, "source", json_name(from));
		json_object_set_new(plugin, "inside", json_name(place->root));
		return NULL;
	}
	json_object_set_new(plugin, "source", json_text(span_str(place->git)));
	if (place->ref)
		json_object_set_new(plugin, "ref", json_text(span_str(place->ref)));
	if (*path)
		json_object_set_new(plugin, "path", json_text(span_str(path)));
	return NULL;
}

static const char *local_put(const struct market_reading *reading, const json_t *said,
                             json_t *plugin)
{
	return inside_put(reading, json_span(json_object_get(said, "path")), plugin);
}

/* The word of a place elsewhere, with "sha", "ref" and "path". */
static const char *elsewhere_put(const struct market_reading *reading, const char *word,
                                 const json_t *said, json_t *plugin)
{
	const json_t *path = json_object_get(said, "path");
	const json_t *commit = json_object_get(said, "sha");
	const json_t *ref = commit ? commit : json_object_get(said, "ref");
	_cleanup_free_ char *clean = path ? market_path(json_span(path)) : mem_strdup("");
	_cleanup_source_ struct install_source source = { 0 };
	struct err why = ERR_INIT;

	if (!clean)
		return LEADS_OUT;
	if (ref && (!json_is_string(ref) || !json_string_length(ref)))
		return "its \"ref\" or \"sha\" is no text";
	/* A file of this machine is for lists of this machine to name. */
	if (!install_is_repository(word) || (!strncasecmp(word, "file:", 5) &&
	                                     !reading->place->own) ||
	    !source_parse(word, &source, &why))
		return "its address is none that hasp fetches from";
	if (!source.git && (ref || *clean))
		return "its address is that of an archive, of which no part can be taken";
	json_object_set_new(plugin, "source", json_text(span_str(word)));
	if (ref)
		json_object_set_new(plugin, "ref", json_text(json_span(ref)));
	if (*clean)
		json_object_set_new(plugin, "path", json_text(span_str(clean)));
	return NULL;
}

/* https://github.com/OWNER/NAME is a repository here, not its releases. */
static const char *url_put(const struct market_reading *reading, const json_t *said,
                           json_t *plugin)
{
	struct span url = json_span(json_object_get(said, "url"));
	const bool hub = url.len > 19 && !strncasecmp(url.data, "https://github.com/", 19) &&
	                 !span_ends(url, SPAN(".git"));
	_cleanup_free_ char *git = NULL;

	if (!url.len)
		return "it has no address";
	url.len -= hub && span_ends(url, SPAN("/"));
	git = mem_printf("%.*s%s", (int)url.len, url.data, hub ? ".git" : "");
	return elsewhere_put(reading, git, said, plugin);
}

static const char *github_put(const struct market_reading *reading, const json_t *said,
                              json_t *plugin)
{
	const char *repository = json_string_value(json_object_get(said, "repo"));
	_cleanup_free_ char *url = mem_printf("https://github.com/%s.git", repository);

	return repository ? elsewhere_put(reading, url, said, plugin) : "it has no \"repo\"";
}

static const struct {
	const char *word;
	const char *(*put)(const struct market_reading *reading, const json_t *said,
	                   json_t *plugin);
} kinds[] = {
	{ "local", local_put },      { "github", github_put }, { "url", url_put },
	{ "git-subdir", url_put },   { "git", url_put },
};

static const char *source_put(const struct market_reading *reading, const json_t *said,
                              json_t *plugin)
{
	const struct span kind = json_span(json_object_get(said, "source"));

	if (json_is_string(said))
		return inside_put(reading, json_span(said), plugin);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (span_eq(kind, span_str(kinds[i].word)))
			return kinds[i].put(reading, said, plugin);
	return span_eq(kind, SPAN("npm")) ? "it is a package of npm, which hasp does not fetch" :
	                                    "its source is of a kind that hasp does not know";
}

/* ---- entries ------------------------------------------------------------------------------ */

/* Where it is, for people. */
static void from_put(json_t *plugin)
{
	const char *path = json_string_value(json_object_get(plugin, "path"));
	const char *ref = json_string_value(json_object_get(plugin, "ref"));
	const char *source = json_string_value(json_object_get(plugin, "source"));
	_cleanup_free_ char *text = mem_printf("%s%s%s%s%s", source ? source : "", path ? ", " : "",
	                                       path ? path : "", ref ? ", " : "", ref ? ref : "");
	_cleanup_free_ char *line = extension_line(span_str(text));

	json_object_set_new(plugin, "from", json_text(span_str(line)));
}

/* A plugin with a name that may be and that no other has; NULL: it is left out. */
static json_t *plugin_begin(const struct market_reading *reading, const json_t *said,
                            const char *name_member, const char *version_member,
                            const char *about_member)
{
	const struct span name = json_span(json_object_get(said, name_member));
	const json_t *about = json_object_get(said, about_member);
	char lower[MARKET_NAME_BYTES + 1] = "";
	json_t *plugin;

	if (!market_name_is_fine(name)) {
		_cleanup_free_ char *shown = mem_dup(name.len ? name.data : "?",
		                                     name.len ? name.len : 1);

		market_notice(reading, shown, "its name is not letters, digits, \"-\", \"_\" and "
		                              "\".\" alone");
		return NULL;
	}
	for (size_t i = 0; i < name.len; i++)
		lower[i] = name.data[i] >= 'A' && name.data[i] <= 'Z' ?
		                   (char)(name.data[i] + 'a' - 'A') : name.data[i];
	if (json_object_get(reading->seen, lower)) {
		market_notice(reading, lower, "there are several of that name, of which the first "
		                              "counts");
		return NULL;
	}
	json_object_set_new(reading->seen, lower, json_true());
	plugin = json_pack("{s:o}", "name", json_text(name));
	json_object_set_new(plugin, "version", market_line(json_object_get(said, version_member),
	                                                   MARKET_VERSION_BYTES));
	json_object_set_new(plugin, "description", market_line(about, MARKET_TEXT_BYTES));
	return plugin;
}

static void plugin_end(const struct market_reading *reading, json_t *plugin, const char *problem)
{
	if (problem)
		json_object_set_new(plugin, "problem", json_string(problem));
	from_put(plugin);
	json_array_append_new(reading->market->plugins, plugin);
}

/* Of Claude Code and Codex, in which the entry may be the manifest. */
static void plugin_read(const struct market_reading *reading, const json_t *said)
{
	static const char *const of_lists[] = { "source", "category", "tags", "strict", "policy" };
	json_t *plugin = plugin_begin(reading, said, "name", "version", "description");
	json_t *manifest;

	if (!plugin)
		return;
	manifest = json_copy((json_t *)said);
	for (size_t i = 0; i < ARRAY_LEN(of_lists); i++)
		json_object_del(manifest, of_lists[i]);
	json_object_set_new(plugin, "manifest", manifest);
	json_object_set_new(plugin, "format",
	                    json_string(extension_format_word(reading->market->kind)));
	plugin_end(reading, plugin,
	           source_put(reading, json_object_get(said, "source"), plugin));
}

/* Of Gemini CLI's gallery: what "gemini extensions install" is given. */
static void gallery_read(const struct market_reading *reading, const json_t *said)
{
	const char *url = json_string_value(json_object_get(said, "url"));
	json_t *plugin = plugin_begin(reading, said, "extensionName", "extensionVersion",
	                              "extensionDescription");

	if (!plugin)
		return;
	if (!json_string_length(json_object_get(plugin, "description")))
		json_object_set_new(plugin, "description",
		                    market_line(json_object_get(said, "repoDescription"),
		                                MARKET_TEXT_BYTES));
	json_object_set_new(plugin, "format",
	                    json_string(extension_format_word(EXTENSION_GEMINI)));
	plugin_end(reading, plugin,
	           url ? elsewhere_put(reading, url, NULL, plugin) : "it has no address");
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void entries_read(const struct market_reading *reading, const json_t *entries,
                         void (*one)(const struct market_reading *reading, const json_t *said))
{
	const json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		if (i >= MARKET_PLUGINS_MAX) {
			market_notice(reading, "the rest", "the list is too long");
			return;
		}
		one(reading, entry);
	}
}

/* A gallery has no name: its host's, or its file's. The caller frees. */
static char *gallery_name(const struct market_place *place)
{
	const char *host = strstr(place->shown, "://"), *slash = strrchr(place->shown, '/');
	struct span name = host ? span_of(host + 3, strcspn(host + 3, "/:?#")) :
	                          span_str(slash ? slash + 1 : place->shown);

	if (!host && span_ends(name, SPAN(".json")))
		name.len -= strlen(".json");
	return market_name_is_fine(name) ? mem_dup(name.data, name.len) : mem_strdup("gallery");
}

static bool market_take(struct market_reading *reading, const json_t *said, struct err *err)
{
	struct market *market = reading->market;
	const struct span name = json_span(json_object_get(said, "name"));
	const json_t *metadata = json_object_get(said, "metadata");
	const json_t *above = json_object_get(metadata, "pluginRoot");
	_cleanup_free_ char *root = above ? market_path(json_span(above)) : NULL;

	if (json_is_array(said)) {
		market->format = "Gemini CLI";
		market->name = gallery_name(reading->place);
		entries_read(reading, said, gallery_read);
		return true;
	}
	if (!json_is_array(json_object_get(said, "plugins")))
		return err_set(err, ERR_INVALID_ARGUMENT, "%.500s is no list of plugins.",
		               reading->place->shown);
	if (!market_name_is_fine(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.500s: the marketplace's \"name\" must be letters, digits, \"-\", "
		               "\"_\" and \".\" alone.", reading->place->shown);
	if (above && !root)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.500s: its \"pluginRoot\" leads out of the marketplace.",
		               reading->place->shown);
	market->kind = json_object_get(said, "owner") ? EXTENSION_CLAUDE : EXTENSION_CODEX;
	market->format = market->kind == EXTENSION_CLAUDE ? "Claude Code" : "Codex";
	market->name = mem_dup(name.data, name.len);
	reading->above = root;
	entries_read(reading, json_object_get(said, "plugins"), plugin_read);
	reading->above = NULL;
	return true;
}

bool market_parse(struct span text, const struct market_place *place, struct market *ret,
                  struct err *err)
{
	struct market market = { .plugins = json_array(), .notices = json_array() };
	struct market_reading reading = { .place = place, .market = &market };
	json_auto_t *said = NULL, *seen = json_object();
	struct err why = ERR_INIT;
	unsigned repeated;
	bool ok = false;

	reading.seen = seen;
	if (json_parse_repeating(text, MARKET_DEPTH, &said, &repeated, &why))
		ok = market_take(&reading, said, err);
	else
		err_set(err, ERR_INVALID_ARGUMENT, "%.300s: %s", place->shown, why.message);
	if (ok)
		*ret = market;
	else
		market_release(&market);
	return ok;
}
