/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the formats: which a file has, how each is read and changed. */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/structured/private.h"

static const struct structured_row rows[STRUCTURED_FORMAT_COUNT] = {
	[STRUCTURED_NONE] = { "structured text", "structured text", "", "", NULL, NULL },
	[STRUCTURED_JSON] = { "JSON", "a JSON file",
	                      " json ipynb geojson webmanifest map har gltf avsc ",
	                      " .prettierrc .eslintrc .babelrc composer.lock flake.lock "
	                      "Pipfile.lock .swcrc ",
	                      json_tree_read, &json_writer },
	[STRUCTURED_JSONC] = { "JSON with comments", "a JSON file with comments",
	                       " jsonc code-workspace sublime-settings ", " ", json_tree_read,
	                       &json_writer },
	[STRUCTURED_JSON_LINES] = { "JSON Lines", "a JSON Lines file", " jsonl ndjson jsonlines ",
	                            " ", json_tree_lines_read, &json_lines_writer },
	[STRUCTURED_YAML] = { "YAML", "a YAML file", " yaml yml ", " .clang-format .clang-tidy ",
	                      yaml_tree_read, &yaml_writer },
	[STRUCTURED_TOML] = { "TOML", "a TOML file", " toml ",
	                      " Cargo.lock Pipfile poetry.lock uv.lock ", toml_tree_read,
				      &toml_writer },
	[STRUCTURED_XML] = { "XML", "an XML file",
	                     " xml svg xsd xslt xsl csproj fsproj vbproj vcxproj props targets "
	                     "plist pom rss atom wsdl nuspec xaml kml gpx xhtml resx storyboard "
	                     "xib gir xlf xliff ",
	                     " ", xml_tree_read, &xml_writer },
	[STRUCTURED_CSV] = { "CSV", "a CSV file", " csv ", " ", csv_tree_read, &csv_writer },
	[STRUCTURED_TSV] = { "TSV", "a TSV file", " tsv tab ", " ", csv_tree_read, &csv_writer },
	[STRUCTURED_INI] = { "INI", "an INI file",
	                     " ini cfg desktop service timer socket target mount path slice "
	                     "network netdev link editorconfig gitconfig ",
	                     " .editorconfig .gitconfig .gitmodules .npmrc .pylintrc .flake8 "
	                     ".coveragerc .pypirc .pep8 ",
	                     ini_tree_read, &ini_writer },
	[STRUCTURED_PROPERTIES] = { "properties", "a properties file", " properties ", " ",
	                            ini_tree_read_properties, &ini_writer },
};

const struct structured_row *structured_row(enum structured_format format)
{
	return &rows[format < STRUCTURED_FORMAT_COUNT ? format : STRUCTURED_NONE];
}

const char *structured_format_words(enum structured_format format)
{
	return structured_row(format)->words;
}

const char *structured_format_label(enum structured_format format)
{
	return structured_row(format)->label;
}

/* Whether `list`, words with a blank before and after each, has the word. */
static bool row_lists(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; len && *at; at++)
		if (at[0] == ' ' && strncasecmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
			return true;
	return false;
}

enum structured_format structured_format_of(const char *name, struct span head)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	const char *dot = strrchr(base, '.');
	struct span text = span_trim(utf8_skip_mark(head));

	for (int i = STRUCTURED_JSON; i < STRUCTURED_FORMAT_COUNT; i++)
		if (row_lists(rows[i].names, base))
			return i;
	for (int i = STRUCTURED_JSON; dot && i < STRUCTURED_FORMAT_COUNT; i++)
		if (row_lists(rows[i].extensions, dot + 1))
			return i;
	if (span_starts(text, SPAN("<?xml ")))
		return STRUCTURED_XML;
	return STRUCTURED_NONE;
}

bool structured_parse(enum structured_format format, struct span text, struct structured *ret,
                      struct err *err)
{
	return structured_parse_along(format, text, NULL, ret, err);
}

bool structured_parse_along(enum structured_format format, struct span text,
                            const struct structured_steps *along, struct structured *ret,
                            struct err *err)
{
	const struct structured_row *row = structured_row(format);
	struct structured tree = { .format = format, .label = row->label, .text = text,
	                           .along = along,
	                           .decoded = BUF_INIT(2 * LIMIT_STRUCTURED_BYTES) };

	if (!row->read)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The file is of none of the formats JSON, JSON Lines, YAML, TOML, "
		               "XML, CSV, TSV, INI, properties.");
	if (text.len > LIMIT_STRUCTURED_BYTES)
		return err_set(err, ERR_TOO_LARGE,
		               "%s of %zu bytes is not read as a whole; %zu are the most.",
				       row->words,
		               text.len, LIMIT_STRUCTURED_BYTES);
	if (!utf8_valid(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "Not %s: the text is not UTF-8.",
		               row->label);
	if (!row->read(&tree, utf8_skip_mark(text).len == text.len ? 0 : 3, err)) {
		structured_release(&tree);
		return false;
	}
	tree.along = NULL;
	*ret = tree;
	return true;
}
