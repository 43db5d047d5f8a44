/* SPDX-License-Identifier: Apache-2.0 */
/* Media types by the extension of a name: for lists, where no content is looked at. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "mcp/offer/internal.h"

/* To add a type: a row, in the order of the extensions. */
static const struct {
	const char *extensions; /* with a space between them */
	const char *mime;
} rows[] = {
	{ "c h", "text/x-c" },
	{ "cc cpp cxx hpp hh hxx", "text/x-c++" },
	{ "cs", "text/x-csharp" },
	{ "css", "text/css" },
	{ "csv", "text/csv" },
	{ "diff patch", "text/x-diff" },
	{ "gif", "image/gif" },
	{ "go", "text/x-go" },
	{ "gz tgz", "application/gzip" },
	{ "htm html", "text/html" },
	{ "java", "text/x-java" },
	{ "jpeg jpg", "image/jpeg" },
	{ "js cjs mjs", "text/javascript" },
	{ "json", "application/json" },
	{ "md markdown", "text/markdown" },
	{ "mp3", "audio/mpeg" },
	{ "mp4", "video/mp4" },
	{ "ogg", "audio/ogg" },
	{ "pdf", "application/pdf" },
	{ "php", "text/x-php" },
	{ "png", "image/png" },
	{ "py pyi", "text/x-python" },
	{ "rb", "text/x-ruby" },
	{ "rs", "text/x-rust" },
	{ "sh bash", "text/x-shellscript" },
	{ "sql", "application/sql" },
	{ "svg", "image/svg+xml" },
	{ "tar", "application/x-tar" },
	{ "toml", "application/toml" },
	{ "ts tsx mts cts", "text/x-typescript" },
	{ "txt log", "text/plain" },
	{ "wav", "audio/wav" },
	{ "webp", "image/webp" },
	{ "xml", "application/xml" },
	{ "yaml yml", "application/yaml" },
	{ "zip", "application/zip" },
};

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words) {
		size_t own = strcspn(words, " ");

		if (own == len && strncasecmp(words, word, len) == 0)
			return true;
		words += own + (words[own] == ' ');
	}
	return false;
}

const char *mime_of_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash + 1 : name, '.');

	for (size_t i = 0; dot && dot[1] && i < ARRAY_LEN(rows); i++)
		if (has_word(rows[i].extensions, dot + 1))
			return rows[i].mime;
	return NULL;
}
