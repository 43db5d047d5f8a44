/* SPDX-License-Identifier: Apache-2.0 */
/* Files of extensions, whatever they say: the first byte says which file the rest is. What is read
 * of them is listed in lines that do not act on a terminal, each piece with a state, and a reason
 * where it does not work. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "config/extensions.h"
#include "install/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MANIFEST_BYTES = 64 << 10 };

/* A file that is any; the others of a set are as they should be. */
static const struct {
	const char *file, *manifest, *text;
} kinds[] = {
	{ "gemini-extension.json", NULL, NULL },
	{ ".claude-plugin/plugin.json", NULL, NULL },
	{ "plugin.json", NULL, NULL },
	{ ".codex-plugin/plugin.json", NULL, NULL },
	{ "manifest.json", NULL, NULL },
	{ ".mcp.json", ".claude-plugin/plugin.json", "{\"name\":\"k\"}" },
	{ ".mcp.json", ".codex-plugin/plugin.json", "{\"name\":\"k\"}" },
	{ "hooks/hooks.json", "gemini-extension.json", "{\"name\":\"k\",\"version\":\"1\"}" },
	{ "hooks/hooks.json", ".claude-plugin/plugin.json", "{\"name\":\"k\"}" },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void need(bool holds)
{
	if (!holds)
		abort();
}

static void put_file(const char *folder, const char *name, const void *data, size_t size)
{
	char path[600];
	int file;

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(slash - name), name);
		(void)mkdir(path, 0700);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(file >= 0 && write(file, data, size) == (ssize_t)size);
	close(file);
}

static void remove_file(const char *folder, const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

/* Nothing to make harmless is left in it. */
static void check_text(const char *text)
{
	char *line = extension_line((struct span){ text, strlen(text) });

	need(!strcmp(line, text));
	free(line);
}

static void check_inventory(const char *folder, const json_t *manifest)
{
	struct inventory inventory = { 0 };
	char *lines;

	inventory_add_extension(&inventory, folder, manifest);
	for (size_t i = 0; i < inventory.count; i++) {
		const struct piece *piece = &inventory.at[i];

		check_text(piece->name);
		check_text(piece->text);
		check_text(piece->file);
		check_text(piece->why);
		need(piece->state != PIECE_BROKEN || *piece->why);
		need(!piece->runs || piece->state == PIECE_WORKS);
	}
	lines = inventory_lines(&inventory, NULL);
	need(lines[0] == ' ' && lines[1] == ' ');
	free(lines);
	json_decref(inventory_json(&inventory));
	inventory_release(&inventory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[100];
	const size_t kind = size ? data[0] % KINDS : 0;
	struct err err = ERR_INIT;
	json_t *manifest;

	if (!size || size > MANIFEST_BYTES)
		return 0;
	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/hasp-fuzz-manifest.XXXXXX");
		need(mkdtemp(folder));
	}
	put_file(folder, kinds[kind].file, data + 1, size - 1);
	if (kinds[kind].manifest)
		put_file(folder, kinds[kind].manifest, kinds[kind].text, strlen(kinds[kind].text));
	manifest = extension_manifest_read(folder, NULL, &err);
	need(manifest || err.code != ERR_NONE);
	if (manifest)
		check_inventory(folder, manifest);
	json_decref(manifest);
	remove_file(folder, kinds[kind].file);
	if (kinds[kind].manifest)
		remove_file(folder, kinds[kind].manifest);
	return 0;
}
