/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of git's configuration, and the table of keys that may stay. */
#include "sandbox/guard/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- what is harmless ------------------------------------------------------------------ */

enum check {
	ANY,      /* nothing that is named here is run */
	BOOLEAN,  /* true and false: anything else would be the path of a program */
	WORD,     /* letters, digits and dashes: `!command` is none */
	URL,      /* no remote helper (helper::address), no option */
	WORKTREE, /* config_reader.worktree decides */
};

static const struct allowed {
	const char *section;
	const char *keys; /* separated by spaces; "*": all; never others than these */
	enum check check;
	bool named;       /* stands in [section "name"], else in [section] */
} table[] = {
	{ "core",
	  "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
	  "symlinks autocrlf eol safecrlf checkroundtripencoding abbrev quotepath sharedrepository "
	  "protecthfs protectntfs sparsecheckout sparsecheckoutcone checkstat trustctime "
	  "bigfilethreshold compression loosecompression commitgraph multipackindex untrackedcache "
	  "splitindex preloadindex fscache longpaths whitespace hidedotfiles deltabasecachelimit "
	  "packedgitlimit packedgitwindowsize fsyncobjectfiles fsync fsyncmethod commentchar "
	  "filesreflocktimeout packedrefstimeout warnambiguousrefs createobject usereplacerefs "
	  "maxtreedepth", ANY, false },
	{ "core", "fsmonitor", BOOLEAN, false },
	{ "core", "worktree", WORKTREE, false },
	{ "remote",
	  "fetch push tagopt mirror prune prunetags promisor partialclonefilter skipdefaultupdate "
	  "skipfetchall followremotehead gh-resolved", ANY, true },
	{ "remote", "url pushurl", URL, true },
	{ "remote", "pushdefault", URL, false },
	{ "branch",
	  "merge rebase description sort vscode-merge-base gh-merge-base github-pr-owner-number",
	  ANY, true },
	{ "branch", "remote pushremote", URL, true },
	{ "branch", "autosetupmerge autosetuprebase sort", ANY, false },
	{ "submodule", "active branch ignore fetchrecursesubmodules shallow path", ANY, true },
	{ "submodule", "url", URL, true },
	{ "submodule", "update", WORD, true },
	{ "submodule",
	  "recurse active fetchjobs propagatebranches alternatelocation alternateerrorstrategy "
	  "stickyrecursiveclone", ANY, false },
	{ "user", "name email useconfigonly", ANY, false },
	{ "author", "name email", ANY, false },
	{ "committer", "name email", ANY, false },
	{ "extensions",
	  "objectformat compatobjectformat partialclone preciousobjects worktreeconfig noop "
	  "refstorage relativeworktrees", ANY, false },
	{ "init", "defaultbranch", ANY, false },
	{ "pull", "rebase ff octopus", ANY, false },
	{ "push", "default autosetupremote followtags useforceifincludes", ANY, false },
	{ "fetch", "prune prunetags parallel writecommitgraph recursesubmodules unpacklimit "
	  "fsckobjects", ANY, false },
	{ "merge", "ff conflictstyle renames renamelimit log stat autostash verbosity",
	  ANY, false },
	{ "rebase", "autosquash autostash updaterefs stat missingcommitscheck rebasemerges backend "
	  "forkpoint", ANY, false },
	{ "gc", "auto autodetach autopacklimit pruneexpire worktreepruneexpire reflogexpire "
	  "reflogexpireunreachable packrefs bigpackthreshold cruftpacks logexpiry "
	  "writecommitgraph aggressivedepth aggressivewindow", ANY, false },
	{ "maintenance", "auto autodetach strategy", ANY, false },
	{ "maintenance", "enabled schedule", ANY, true },
	{ "pack", "*", ANY, false },
	{ "repack", "*", ANY, false },
	{ "index", "*", ANY, false },
	{ "feature", "*", ANY, false },
	{ "advice", "*", ANY, false },
	{ "color", "*", ANY, false },
	{ "color", "*", ANY, true },
	{ "column", "*", ANY, false },
	{ "status", "*", ANY, false },
	{ "log", "date decorate follow abbrevcommit showsignature", ANY, false },
	{ "diff", "renames renamelimit algorithm mnemonicprefix noprefix colormoved context "
	  "indentheuristic submodule ignoresubmodules", ANY, false },
	{ "commit", "gpgsign verbose status cleanup", ANY, false },
	{ "tag", "sort gpgsign", ANY, false },
	{ "i18n", "commitencoding logoutputencoding", ANY, false },
	{ "receive", "denycurrentbranch denynonfastforwards denydeletes denydeletecurrent "
	  "fsckobjects autogc unpacklimit maxinputsize", ANY, false },
	{ "transfer", "fsckobjects unpacklimit hiderefs", ANY, false },
	{ "http", "postbuffer version lowspeedlimit lowspeedtime", ANY, false },
	{ "lfs", "repositoryformatversion", ANY, false },
};

/* Whether a word stands in a list of words. */
static bool word_is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; *at;) {
		size_t n = strcspn(at, " ");

		if ((n == 1 && *at == '*') || (n == len && memcmp(at, word, n) == 0))
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

static bool is_variable_name_char(char c)
{
	return ascii_is_alnum(c) || c == '-';
}

static bool is_plain_value(struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		if (!is_variable_name_char(value.data[i]))
			return false;
	}
	return value.len > 0 && value.data[0] != '-';
}

/* "ext::sh -c ..." runs a command; any other "helper::" runs git-remote-helper. */
static bool is_plain_url(struct span value)
{
	if (value.len == 0 || value.data[0] == '-')
		return false;
	for (size_t i = 0; i + 1 < value.len && value.data[i] != '/'; i++) {
		if (value.data[i] == ':' && value.data[i + 1] == ':')
			return false;
	}
	return true;
}

/* ---- one line -------------------------------------------------------------------------- */

enum line_kind { LINE_BLANK, LINE_SECTION, LINE_VARIABLE, LINE_UNKNOWN };

enum { NAME_SIZE = 64 };

struct config_line {
	enum line_kind kind;
	char name[NAME_SIZE]; /* of the section or variable, in small letters */
	struct buf *text;     /* the section's quoted name, or the variable's value */
	bool quoted;          /* the section has a quoted name */
};

static struct span skip_config_blanks(struct span rest)
{
	while (rest.len && (rest.data[0] == ' ' || rest.data[0] == '\t'))
		rest = span_skip(rest, 1);
	return rest;
}

static bool take_name(struct span *rest, char name[static NAME_SIZE])
{
	size_t n = 0;

	while (n < rest->len && n + 1 < NAME_SIZE && is_variable_name_char(rest->data[n])) {
		char c = rest->data[n];

		name[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	name[n] = '\0';
	*rest = span_skip(*rest, n);
	return n > 0;
}

/* section = "[" name [ blanks quoted ] "]" blanks */
static enum line_kind read_section(struct span rest, struct config_line *line)
{
	if (!take_name(&rest, line->name))
		return LINE_UNKNOWN;
	if (rest.len && rest.data[0] != ']') {
		struct span after = skip_config_blanks(rest);

		if (after.len == rest.len || !after.len || after.data[0] != '"')
			return LINE_UNKNOWN;
		line->quoted = true;
		rest = span_skip(after, 1);
		for (; rest.len && rest.data[0] != '"'; rest = span_skip(rest, 1)) {
			if (rest.data[0] == '\\')
				rest = span_skip(rest, 1);
			if (rest.len)
				buf_char(line->text, rest.data[0]);
		}
		rest = span_skip(rest, 1);
	}
	if (!rest.len || rest.data[0] != ']' || skip_config_blanks(span_skip(rest, 1)).len)
		return LINE_UNKNOWN;
	return LINE_SECTION;
}

/* One escaped character of a value; false: git refuses it, or the line goes on. */
static bool put_escape(struct buf *value, struct span rest)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	const char *at = rest.len ? memchr(from, rest.data[0], sizeof(from) - 1) : NULL;

	return at && buf_char(value, to[at - from]);
}

/* value: blanks at its end do not count outside of quotes, nor what is behind # or ; */
static enum line_kind line_read_value(struct span rest, struct config_line *line)
{
	bool quoted = false;
	size_t end = 0;

	for (rest = skip_config_blanks(rest); rest.len; rest = span_skip(rest, 1)) {
		char c = rest.data[0];

		if (c == '"') {
			quoted = !quoted;
			end = line->text->len;
		} else if (!quoted && (c == '#' || c == ';')) {
			break;
		} else if (c == '\\') {
			rest = span_skip(rest, 1);
			if (!put_escape(line->text, rest))
				return LINE_UNKNOWN;
			end = line->text->len;
		} else {
			buf_char(line->text, c);
			if (quoted || (c != ' ' && c != '\t'))
				end = line->text->len;
		}
	}
	if (line->text->data)
		line->text->data[line->text->len = end] = '\0';
	return quoted ? LINE_UNKNOWN : LINE_VARIABLE;
}

/* variable = name blanks [ "=" value ] */
static enum line_kind read_variable(struct span rest, struct config_line *line)
{
	if (!rest.len || !ascii_is_letter(rest.data[0]) || !take_name(&rest, line->name))
		return LINE_UNKNOWN;
	rest = skip_config_blanks(rest);
	if (!rest.len)
		return LINE_VARIABLE;
	return rest.data[0] == '=' ? line_read_value(span_skip(rest, 1), line) : LINE_UNKNOWN;
}

static void line_read(struct span text, struct config_line *line)
{
	struct span rest = skip_config_blanks(text);

	buf_clear(line->text);
	line->quoted = false;
	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] < ' ' && text.data[i] != '\t') {
			line->kind = LINE_UNKNOWN;
			return;
		}
	}
	if (!rest.len || rest.data[0] == '#' || rest.data[0] == ';')
		line->kind = LINE_BLANK;
	else if (rest.data[0] == '[')
		line->kind = read_section(span_skip(rest, 1), line);
	else
		line->kind = read_variable(rest, line);
}

/* ---- the whole text -------------------------------------------------------------------- */

struct config_section {
	char name[NAME_SIZE];
	struct buf quoted;
	bool has_quoted;
};

static void section_enter(struct config_section *section, const struct config_line *line)
{
	memcpy(section->name, line->name, sizeof(section->name));
	buf_clear(&section->quoted);
	buf_span(&section->quoted, buf_view(line->text));
	section->has_quoted = line->quoted;
}

static bool line_is_harmless(const struct config_reader *reader,
                             const struct config_section *section, const struct config_line *line)
{
	struct span value = buf_view(line->text);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (table[i].named != section->has_quoted ||
		    strcmp(table[i].section, section->name) != 0 ||
		    !word_is_listed(table[i].keys, line->name))
			continue;
		switch (table[i].check) {
		case ANY:
			return true;
		case BOOLEAN:
			return value.len == 0 || span_eq(value, SPAN("true")) ||
			       span_eq(value, SPAN("false"));
		case WORD:
			return is_plain_value(value);
		case URL:
			return is_plain_url(value);
		case WORKTREE:
			return reader && reader->worktree && reader->worktree(reader->data, value);
		}
	}
	return false;
}

/* A variable as one text; no newline stands in its parts but the last. */
static char *variable_text(const struct config_section *section, const struct config_line *line)
{
	return mem_printf("%s\n%s%s\n%s\n%s", section->name, section->has_quoted ? "=" : "",
	                  section->quoted.data ? section->quoted.data : "", line->name,
	                  line->text->data ? line->text->data : "");
}

struct known {
	char **list; /* owned; sorted */
	size_t count, cap;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void known_release(struct known *known)
{
	for (size_t i = 0; i < known->count; i++)
		free(known->list[i]);
	free(known->list);
}

/* Lines that are not understood do not count. */
static void known_read(struct known *known, struct span text)
{
	_cleanup_buf_ struct buf value = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	struct config_section section = { .quoted = BUF_INIT(LIMIT_GUARD_FILE_BYTES) };
	struct config_line line = { .text = &value };
	struct span one;

	while (line_next(&text, &one)) {
		line_read(line_body(one), &line);
		if (line.kind == LINE_SECTION)
			section_enter(&section, &line);
		if (line.kind != LINE_VARIABLE || !section.name[0])
			continue;
		known->list = mem_grow(known->list, &known->cap, known->count + 1,
		                       sizeof(*known->list));
		known->list[known->count++] = variable_text(&section, &line);
	}
	buf_release(&section.quoted);
	if (known->count)
		qsort(known->list, known->count, sizeof(*known->list), compare_texts);
}

static bool known_has(const struct known *known, const struct config_section *section,
                      const struct config_line *line)
{
	_cleanup_free_ char *text = variable_text(section, line);

	return known->count &&
	       bsearch(&text, known->list, known->count, sizeof(*known->list), compare_texts);
}

static void put_key(struct buf *keys, const struct config_section *section,
                    const struct config_line *line)
{
	if (keys->len > 200) /* the first few say what it is about */
		return;
	buf_printf(keys, "%s%s", keys->len ? ", " : "", section->name);
	if (section->has_quoted) {
		buf_char(keys, '.');
		buf_span(keys, span_head(buf_view(&section->quoted), 40));
	}
	buf_printf(keys, ".%s", line->name);
}

static bool clean_lines(const struct config_reader *reader, struct span text,
                        const struct known *known, struct buf *clean, struct buf *keys)
{
	_cleanup_buf_ struct buf value = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	struct config_section section = { .quoted = BUF_INIT(LIMIT_GUARD_FILE_BYTES) };
	struct config_line line = { .text = &value };
	bool understood = true;
	struct span one;

	while (understood && line_next(&text, &one)) {
		line_read(span_ends(one, SPAN("\n")) ? span_head(one, one.len - 1) : one, &line);
		if (line.kind == LINE_SECTION)
			section_enter(&section, &line);
		understood = line.kind != LINE_UNKNOWN && !value.overflowed &&
		             !section.quoted.overflowed &&
		             (line.kind != LINE_VARIABLE || section.name[0]);
		if (understood && line.kind == LINE_VARIABLE &&
		    !line_is_harmless(reader, &section, &line) &&
		    !known_has(known, &section, &line))
			put_key(keys, &section, &line);
		else
			buf_span(clean, one);
	}
	buf_release(&section.quoted);
	return understood && !clean->overflowed;
}

bool guard_config_clean(const struct config_reader *reader, struct span text, struct span known,
                        struct buf *clean, struct buf *keys)
{
	struct known list = { 0 };
	bool understood;

	known_read(&list, known);
	understood = clean_lines(reader, text, &list, clean, keys);
	known_release(&list);
	return understood;
}
