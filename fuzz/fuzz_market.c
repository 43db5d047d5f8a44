/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of plugins: whatever they say, names are ASCII and come once, texts are lines that do not
 * act, and no path leads out of the marketplace. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/extensions.h"
#include "data/json.h"
#include "install/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MARKET_BYTES = 64 << 10 };

static void need(bool holds)
{
	if (!holds)
		abort();
}

/* A line that extension_line has nothing to change of. */
static void check_line(const json_t *value)
{
	char *line = extension_line(json_span(value));

	need(json_is_string(value) && span_eq(span_str(line), json_span(value)));
	free(line);
}

/* Of names that lead down alone. */
static void check_inside(const char *path)
{
	need(*path && path[0] != '/');
	while (path) {
		const struct span name = span_of(path, strcspn(path, "/"));

		need(name.len && !span_eq(name, SPAN(".")) && !span_eq(name, SPAN("..")));
		need(name.len != 4 || strncasecmp(path, ".git", 4) != 0);
		path = path[name.len] ? path + name.len + 1 : NULL;
	}
}

static void check_source(const json_t *plugin, const struct market_place *place)
{
	const char *source = json_string_value(json_object_get(plugin, "source"));
	const char *path = json_string_value(json_object_get(plugin, "path"));

	need(source || json_object_get(plugin, "problem"));
	if (path)
		check_inside(path);
	if (json_object_get(plugin, "inside")) {
		need(place->root && !strncmp(source, place->root, strlen(place->root)));
		if (source[strlen(place->root)])
			check_inside(source + strlen(place->root) + 1);
	} else if (source) {
		need(install_is_repository(source));
		need(place->own || strncasecmp(source, "file:", 5) != 0);
	}
}

static void check_market(struct span text, const struct market_place *place)
{
	struct market market;
	struct err err = ERR_INIT;
	const json_t *plugin, *notice;
	size_t i;

	if (!market_parse(text, place, &market, &err)) {
		need(err.code == ERR_INVALID_ARGUMENT);
		return;
	}
	need(market_name_is_fine(span_str(market.name)) && market.format);
	json_array_foreach(market.plugins, i, plugin) {
		need(market_name_is_fine(json_span(json_object_get(plugin, "name"))));
		check_line(json_object_get(plugin, "version"));
		check_line(json_object_get(plugin, "description"));
		check_line(json_object_get(plugin, "from"));
		check_source(plugin, place);
	}
	json_array_foreach(market.notices, i, notice)
		check_line(notice);
	market_release(&market);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct market_place places[] = {
		{ .shown = "/srv/market", .root = "/srv/market", .own = true },
		{ .shown = "https://example.org/x.git", .git = "https://example.org/x.git",
		  .ref = "v1" },
		{ .shown = "https://example.org/market.json" },
	};
	const struct span text = span_of((const char *)data, size < MARKET_BYTES ? size :
	                                                                           MARKET_BYTES);

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		check_market(text, &places[i]);
	return 0;
}
