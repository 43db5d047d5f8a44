/* SPDX-License-Identifier: Apache-2.0 */
/* The table of git_values.h, and its scanner.
 *
 * The keys are those of git-config(1) of git 2.39 to 2.50, and of the pages it refers to
 * (git-send-email, git-instaweb, git-imap-send, git-credential, gitattributes, git-mergetool,
 * git-interpret-trailers, git-archive, git-upload-pack).
 *
 * Left out on purpose, because nothing is run or obeyed: core.excludesFile, commit.template,
 * mailmap.file, blame.ignoreRevsFile, diff.orderFile, fsck.skipList (text and lists), core.worktree
 * (where files are put; git.c asks for it), user.signingKey (a key), remote.*.url and url.*.*
 * that are paths or addresses (another repository, whose configuration counts there).
 */
#include "sandbox/plan/git_values.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

#define SECTION(section, names, use, why) { section, names, false, GIT_USE_##use, why }
#define NAMED(section, names, use, why) { section, names, true, GIT_USE_##use, why }

static const struct git_value table[] = {
	SECTION("include", "path", INCLUDE, "include.path: part of git's configuration"),
	NAMED("includeif", "path", INCLUDE, "includeIf.path: part of git's configuration"),
	SECTION("core", "hookspath", HOOKS, "core.hooksPath: hooks that git runs"),
	SECTION("core", "fsmonitor", COMMAND, "core.fsmonitor: git status runs it"),
	SECTION("core", "editor", COMMAND, "core.editor: git runs it"),
	SECTION("core", "pager", COMMAND, "core.pager: git runs it"),
	SECTION("core", "sshcommand", COMMAND, "core.sshCommand: git runs it"),
	SECTION("core", "askpass", COMMAND, "core.askPass: git runs it"),
	SECTION("core", "gitproxy", COMMAND, "core.gitProxy: git runs it"),
	SECTION("core", "alternaterefscommand", COMMAND, "core.alternateRefsCommand: git runs it"),
	SECTION("core", "attributesfile", FILE, "core.attributesFile: which filters git runs"),
	SECTION("sequence", "editor", COMMAND, "sequence.editor: git rebase runs it"),
	SECTION("interactive", "difffilter", COMMAND, "interactive.diffFilter: git add -p runs it"),
	NAMED("credential", "helper", COMMAND, "credential.helper: git runs it"),
	NAMED("filter", "clean smudge process", COMMAND, "a filter: git add and checkout run it"),
	SECTION("diff", "external", COMMAND, "diff.external: git diff runs it"),
	NAMED("diff", "command textconv", COMMAND, "a diff driver: git diff runs it"),
	NAMED("merge", "driver", COMMAND, "a merge driver: git merge runs it"),
	NAMED("mergetool", "cmd path", COMMAND, "a merge tool: git mergetool runs it"),
	NAMED("difftool", "cmd path", COMMAND, "a diff tool: git difftool runs it"),
	NAMED("guitool", "cmd", COMMAND, "a tool of git gui"),
	NAMED("browser", "cmd path", COMMAND, "a browser: git help and web--browse run it"),
	NAMED("man", "cmd path", COMMAND, "a viewer of manual pages: git help runs it"),
	NAMED("alias", "*", ALIAS, "an alias: git runs it by its name"),
	NAMED("pager", "*", COMMAND, "pager: git runs it"),
	NAMED("gpg", "program defaultkeycommand", COMMAND, "gpg.program: git runs it to sign"),
	NAMED("gpg", "allowedsignersfile revocationfile", FILE, "gpg.ssh: whose signatures count"),
	SECTION("init", "templatedir", FILE, "init.templateDir: hooks of new repositories"),
	NAMED("hook", "command", COMMAND, "a hook: git runs it"),
	SECTION("uploadpack", "packobjectshook", COMMAND,
	        "uploadpack.packObjectsHook: git runs it"),
	SECTION("gc", "recentobjectshook", COMMAND, "gc.recentObjectsHook: git gc runs it"),
	NAMED("remote", "uploadpack receivepack vcs", COMMAND,
	      "a remote's program: git fetch runs it"),
	NAMED("remote", "url pushurl", URL, "a remote's command: git fetch runs it"),
	NAMED("url", "insteadof pushinsteadof", URL, "a command in a URL: git fetch runs it"),
	NAMED("submodule", "update", UPDATE, "submodule.update: git submodule runs it"),
	NAMED("trailer", "command cmd", COMMAND, "a trailer: git commit runs it"),
	NAMED("tar", "command", COMMAND, "a format: git archive runs it"),
	NAMED("sendemail", "smtpserver sendmailcmd tocmd cccmd headercmd signedoffcmd", COMMAND,
	      "sendemail: git send-email runs it"),
	SECTION("instaweb", "httpd browser", COMMAND, "instaweb: git instaweb runs it"),
	SECTION("instaweb", "modulepath", FILE, "instaweb.modulePath: git instaweb loads it"),
	SECTION("imap", "tunnel", COMMAND, "imap.tunnel: git imap-send runs it"),
	NAMED("http", "sslcainfo sslcapath proxysslcainfo", FILE, "http: which servers git trusts"),
	NAMED("http", "sslcert sslkey cookiefile", FILE, "http: what git sends to servers"),
	SECTION("svn", "authorsprog", COMMAND, "svn.authorsProg: git svn runs it"),
	/* Of other programs, which git runs by a driver or by their name. */
	NAMED("lfs", "path clean smudge", COMMAND, "Git LFS runs it"),
	/* What later versions add is called like this. */
	{ "*", "command cmd program helper hook", true, GIT_USE_COMMAND, "git runs it" },
};

static bool keys_have(const char *list, struct span word)
{
	for (const char *at = list; *at;) {
		size_t len = strcspn(at, " ");

		if ((len == 1 && *at == '*') || span_eq(span_of(at, len), word))
			return true;
		at += len + (at[len] == ' ');
	}
	return false;
}

const struct git_value *git_value_find(const struct git_config_item *item)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct git_value *row = &table[i];

		if (item->has_value && (row->named || !item->subsection.len) &&
		    keys_have(row->section, item->section) && keys_have(row->names, item->name))
			return row;
	}
	return NULL;
}

struct span git_value_text(const struct git_value *row, const struct git_config_item *item)
{
	return strcmp(row->section, "url") == 0 ? item->subsection : item->value;
}

size_t git_value_number(const struct git_value *row)
{
	return (size_t)(row - table);
}

const struct git_value *git_value_at(size_t number)
{
	return number < ARRAY_LEN(table) ? &table[number] : NULL;
}

/* ---- words ------------------------------------------------------------------------------ */

/* What the next word of a command is. */
enum position {
	AT_COMMAND,
	AT_SCRIPT,
	AT_VALUE,   /* behind an option of an interpreter: its value, or the script */
	AT_MODULE,  /* behind -m */
	AT_OPTION,  /* of a program that takes a script behind -f */
	AT_RUNNER,  /* a script, or a sub-command */
	AT_TASK,    /* behind "run" */
	AT_FOLDER,
	AT_OUTPUT,  /* behind a program that obeys none of its arguments */
	AT_ARGUMENT,
};

struct value_scan {
	git_each_word *each;
	void *data;
	bool quotes;             /* they are heeded; else they separate */
	bool alias;              /* arguments are typed by the user */
	bool read;               /* what is only written does not count (git_value_command_words) */
	bool output;             /* the next word stands behind ">"; where `read` */
	char quote;              /* inside of one; 0: not */
	enum position position;
	bool node;               /* what it runs may be called without its ".js" */
	bool started, unknown;   /* of the word */
	char word[LIMIT_PATH_BYTES];
	size_t len;
	char folder[LIMIT_PATH_BYTES]; /* behind "cd" */
	size_t folder_len;
};

/* Behind these stands a command. */
static const char wrappers[] =
	"! exec env nohup time command builtin sudo doas nice ionice setsid stdbuf timeout xargs "
	"eval if then else elif while until do busybox winpty";
/* Behind these, also where they are arguments of something else, stands a file that they run. */
static const char shells[] = "sh bash dash ash zsh ksh python perl ruby";
/* Behind these stands a file that they run. */
static const char interpreters[] =
	"sh bash dash ash zsh ksh mksh fish . source python pypy perl ruby node nodejs tsx php lua "
	"luajit tclsh wish Rscript julia pwsh osascript";
/* Behind -f of these. */
static const char filters[] = "awk gawk mawk nawk sed gsed";
/* Behind these, or behind their "run"; it may as well be a name that another file explains. */
static const char runners[] =
	"deno bun uv go java dotnet cargo npm npx pnpm yarn poetry pipenv pipx rye hatch";
/* These only write, make, remove or print what their arguments name; where `read`. */
static const char writers[] =
	"echo printf touch mkdir rmdir rm tee true false : [ test exit chmod return";

static bool is_usable_word(struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		if ((unsigned char)word.data[i] < ' ' || word.data[i] == 0x7f)
			return false;
	}
	return word.len > 0 && word.len < LIMIT_PATH_BYTES;
}

static bool has_slash(struct span word)
{
	return word.len && memchr(word.data, '/', word.len);
}

/* "clean.sh", but not ".", "..", ".hidden" or "1.5". */
static bool has_extension(struct span word)
{
	const char *dot = word.len > 2 ? memchr(word.data + 1, '.', word.len - 2) : NULL;

	return dot && word.data[0] != '.' && strspn(word.data, "0123456789.") < word.len;
}

static bool may_be_file(struct span word)
{
	return has_slash(word) || has_extension(word);
}

static void scan_put_word(struct value_scan *scan, enum git_word kind, struct span word)
{
	char joined[LIMIT_PATH_BYTES];
	size_t len = scan->folder_len + 1 + word.len;

	if (!is_usable_word(word) || span_eq(word, SPAN("/")))
		return;
	scan->each(scan->data, kind, word);
	if (!scan->folder_len || word.data[0] == '/' || word.data[0] == '~' ||
	    len >= sizeof(joined))
		return;
	memcpy(joined, scan->folder, scan->folder_len);
	joined[scan->folder_len] = '/';
	memcpy(joined + scan->folder_len + 1, word.data, word.len);
	scan->each(scan->data, kind, span_of(joined, len));
}

/* The paths in a word: itself, what follows an option's letter or the first separator, and each
 * part of a list.  Not what follows each separator: the work would grow with the square of the
 * length. */
static void put_paths(struct value_scan *scan, enum git_word kind, struct span word)
{
	static const char separators[] = "=:,@!";
	size_t start = 0;

	if (scan->alias && kind == GIT_WORD_ARGUMENT)
		return;
	scan_put_word(scan, kind, word);
	if (word.len > 2 && word.data[0] == '-')
		scan_put_word(scan, kind, span_skip(word, 2));
	for (size_t i = 0; i <= word.len; i++) {
		bool first = start == 0, last = i == word.len;

		if (!last && !strchr(separators, word.data[i]))
			continue;
		if ((!first || !last) && may_be_file(span_of(word.data + start, i - start)))
			scan_put_word(scan, kind, span_of(word.data + start, i - start));
		start = i + 1;
		if (first && !last && may_be_file(span_skip(word, start)))
			scan_put_word(scan, kind, span_skip(word, start));
	}
}

static bool is_assignment(struct span word)
{
	const char *equals = memchr(word.data, '=', word.len);
	const char *slash = memchr(word.data, '/', word.len);

	return equals && equals > word.data && (!slash || equals < slash);
}

/* The name of a program, without its folder and version: "python" of "/usr/bin/python3.11". */
static struct span program_name(struct span word)
{
	const char *slash = memrchr(word.data, '/', word.len);
	struct span name = slash ? span_skip(word, (size_t)(slash - word.data) + 1) : word;
	size_t len = name.len;

	while (len && strchr("0123456789.-", name.data[len - 1]))
		len--;
	return len ? span_head(name, len) : name;
}

static enum position behind_command(struct span word)
{
	struct span name = program_name(word);

	if (word.data[0] == '-' || is_assignment(word) || strchr("0123456789", word.data[0]) ||
	    keys_have(wrappers, name))
		return AT_COMMAND;
	if (span_eq(word, SPAN("cd")))
		return AT_FOLDER;
	if (keys_have(interpreters, name))
		return AT_SCRIPT;
	if (keys_have(filters, name))
		return AT_OPTION;
	return keys_have(runners, name) ? AT_RUNNER : AT_ARGUMENT;
}

/* Behind a program that runs files, and tasks of a project. */
static enum position behind_runner(enum position position, struct span word,
                                   enum git_word *ret_kind)
{
	if (word.data[0] == '-')
		return position;
	if (position == AT_RUNNER && keys_have("run exec x", word))
		return AT_TASK;
	if (may_be_file(word))
		*ret_kind = GIT_WORD_SCRIPT;
	else if (position == AT_TASK)
		*ret_kind = GIT_WORD_UNKNOWN;
	return AT_ARGUMENT;
}

/* Where what follows `word` stands; *ret_kind: what the word itself is. */
static enum position position_after(enum position position, struct span word,
                                    enum git_word *ret_kind)
{
	bool option = word.data[0] == '-';

	*ret_kind = GIT_WORD_ARGUMENT;
	switch (position) {
	case AT_COMMAND:
		position = behind_command(word);
		if (position != AT_COMMAND)
			*ret_kind = GIT_WORD_RUN;
		return position;
	case AT_OUTPUT:
		return position;
	case AT_OPTION:
		return span_eq(word, SPAN("-f")) || span_eq(word, SPAN("--file")) ? AT_SCRIPT :
		                                                                    AT_OPTION;
	case AT_RUNNER:
	case AT_TASK:
		return behind_runner(position, word, ret_kind);
	case AT_MODULE:
		*ret_kind = GIT_WORD_UNKNOWN;
		return AT_ARGUMENT;
	case AT_SCRIPT:
	case AT_VALUE:
		if (option) {
			/* An option of an interpreter. */
			if (span_eq(word, SPAN("-c")) || span_eq(word, SPAN("-e")))
				return AT_ARGUMENT;
			return span_eq(word, SPAN("-m")) ? AT_MODULE : AT_VALUE;
		}
		*ret_kind = GIT_WORD_SCRIPT;
		return position == AT_VALUE && !may_be_file(word) ? AT_SCRIPT : AT_ARGUMENT;
	default:
		return keys_have(shells, program_name(word)) ? AT_SCRIPT : AT_ARGUMENT;
	}
}

/* What node loads when it is given a name without its ending. */
static void put_loaded(struct value_scan *scan, struct span word)
{
	char name[LIMIT_PATH_BYTES];

	if (!scan->node || word.len + strlen(".js") >= sizeof(name))
		return;
	memcpy(name, word.data, word.len);
	memcpy(name + word.len, ".js", strlen(".js"));
	scan_put_word(scan, GIT_WORD_SCRIPT, span_of(name, word.len + strlen(".js")));
}

/* Whether the word is only written to, and so was passed over. */
static bool drop_output(struct value_scan *scan, struct span word)
{
	const bool writer = scan->read && scan->position == AT_COMMAND &&
	                    keys_have(writers, program_name(word));
	const bool drop = scan->output || scan->position == AT_OUTPUT;

	if (writer && !scan->output)
		scan->position = AT_OUTPUT;
	else if (!drop)
		return false;
	/* A writer of the workspace is a program that is run. */
	if (!drop && has_slash(word))
		put_paths(scan, GIT_WORD_RUN, word);
	scan->output = scan->started = scan->unknown = false;
	scan->len = 0;
	return true;
}

static void end_word(struct value_scan *scan)
{
	struct span word = span_of(scan->word, scan->len);
	enum position position = scan->position;
	enum git_word kind;

	if (!scan->started)
		return;
	scan->word[scan->len] = '\0';
	if (!word.len)
		word = SPAN("?"); /* all of it is unknown, or empty */
	if (drop_output(scan, word))
		return;
	scan->position = position_after(position, word, &kind);
	if (position == AT_COMMAND)
		scan->node = keys_have("node nodejs", program_name(word));
	if (kind == GIT_WORD_UNKNOWN) {
		scan->unknown = true;
		kind = GIT_WORD_SCRIPT;
		word = scan->len ? word : SPAN("?");
		scan->len = 0; /* nothing to protect */
	}
	if (scan->unknown && (kind != GIT_WORD_ARGUMENT || (has_slash(word) && !scan->alias)))
		scan->each(scan->data, GIT_WORD_UNKNOWN, is_usable_word(word) ? word : SPAN("?"));
	if (position == AT_FOLDER && !scan->unknown && is_usable_word(word)) {
		memcpy(scan->folder, word.data, word.len);
		scan->folder_len = word.len;
	} else if (has_slash(word) || (kind == GIT_WORD_ARGUMENT && has_extension(word)) ||
	           (kind == GIT_WORD_SCRIPT && scan->len)) {
		put_paths(scan, kind, word);
		if (kind == GIT_WORD_SCRIPT)
			put_loaded(scan, word);
	}
	scan->started = scan->unknown = false;
	scan->len = 0;
}

static void scan_add_text(struct value_scan *scan, struct span text)
{
	scan->started = true;
	if (scan->len + text.len + 1 >= sizeof(scan->word)) {
		scan->unknown = true;
		return;
	}
	memcpy(scan->word + scan->len, text.data, text.len);
	scan->len += text.len;
}

/* ---- expansions ------------------------------------------------------------------------- */

static const struct {
	const char *text, *value;
} expansions[] = {
	{ "HOME", "~" },
	{ "PWD", "." },
	{ "GIT_WORK_TREE", "." },
	{ "GIT_DIR", ".git" },
	{ "pwd", "." },
	{ "git rev-parse --show-toplevel", "." },
	{ "git rev-parse --show-cdup", "." },
	{ "git rev-parse --git-dir", ".git" },
	{ "git rev-parse --git-common-dir", ".git" },
};

/* What stands for `name`; what is not known is taken for the top where a path begins with it. */
static void scan_expand(struct value_scan *scan, struct span name)
{
	static const char given[] = "@*#?$!-0123456789";

	name = span_trim(name);
	for (size_t i = 0; i < ARRAY_LEN(expansions); i++) {
		if (span_eq(name, span_str(expansions[i].text))) {
			scan_add_text(scan, span_str(expansions[i].value));
			return;
		}
	}
	scan->started = true;
	/* The arguments that git gives. */
	if (!(name.len == 1 && strchr(given, name.data[0]) && scan->position == AT_ARGUMENT))
		scan->unknown = true;
	if (!scan->len)
		scan_add_text(scan, SPAN("."));
}

static bool is_variable_char(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

/* The length of text up to `close`, which belongs to what opened before it. */
static size_t length_until(struct span text, char open, char close)
{
	size_t depth = 1, i = 0;

	for (; i < text.len; i++) {
		if (text.data[i] == close && --depth == 0)
			break;
		depth += text.data[i] == open && open != close;
	}
	return i;
}

/* `rest` begins behind "$" or is that of "`"; how much of it was taken. */
static size_t read_expansion(struct value_scan *scan, struct span rest, char kind)
{
	static const char *const pairs[] = { "()", "{}", "``" };
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		if (kind != pairs[i][0])
			continue;
		len = length_until(rest, pairs[i][0], pairs[i][1]);
		scan_expand(scan, span_head(rest, len));
		return len + (len < rest.len);
	}
	if (rest.len && strchr("@*#?$!-0123456789", rest.data[0]))
		len = 1;
	while (!(len == 1 && !is_variable_char(rest.data[0])) && len < rest.len &&
	       is_variable_char(rest.data[len]))
		len++;
	if (len)
		scan_expand(scan, span_head(rest, len));
	else
		scan_add_text(scan, SPAN("$"));
	return len;
}

static void separate(struct value_scan *scan, char c)
{
	end_word(scan);
	if (scan->read && (c == '>' || !strchr(" \t&", c)))
		scan->output = c == '>';
	if (c == '<' && (scan->position == AT_SCRIPT || scan->position == AT_VALUE))
		scan->position = AT_SCRIPT; /* which it reads */
	else if (c == '<' || c == '>')
		scan->position = AT_ARGUMENT;
	else if (c != ' ' && c != '\t')
		scan->position = AT_COMMAND;
}

/* The length of quoted text, with its marks, that is one word and no command; 0: it is not. */
static size_t quoted_word_length(const struct value_scan *scan, struct span text)
{
	size_t len = 1;

	if (!scan->read || scan->quotes || (text.data[0] != '\'' && text.data[0] != '"'))
		return 0;
	while (len < text.len && text.data[len] != text.data[0] &&
	       !strchr(" \t\n;|&<>(){}$`\\", text.data[len]))
		len++;
	return len < text.len && text.data[len] == text.data[0] ? len + 1 : 0;
}

/* One character outside of expansions, at the begin of `text`; how much was taken. */
static size_t read_character(struct value_scan *scan, struct span text)
{
	const size_t quoted = quoted_word_length(scan, text);
	char c = text.data[0];

	if (quoted) {
		scan_add_text(scan, span_of(text.data + 1, quoted - 2));
		return quoted;
	}
	if (!scan->quotes && (c == '\'' || c == '"' || c == '`')) {
		separate(scan, ';');
	} else if (scan->quotes && (c == '\'' || c == '"') && (!scan->quote || scan->quote == c)) {
		scan->quote = scan->quote ? 0 : c;
		scan->started = true;
	} else if (c == '\\' && scan->quote != '\'' && text.len > 1) {
		scan_add_text(scan, span_of(text.data + 1, 1));
		return 2;
	} else if (!scan->quote && strchr(" \t\n;|&<>(){}", c)) {
		separate(scan, c);
	} else {
		scan->unknown |= !scan->quote && strchr("*?[", c);
		scan_add_text(scan, span_of(&c, 1));
	}
	return 1;
}

static void scan_text(struct value_scan *scan, struct span text)
{
	while (text.len) {
		char c = text.data[0], next = text.len > 1 ? text.data[1] : '\0';
		size_t taken;

		if (c == '\0')
			break;
		if (c == '$' && scan->quote != '\'' && (next == '(' || next == '{') &&
		    (scan->quotes || next == '{'))
			taken = 2 + read_expansion(scan, span_skip(text, 2), next);
		else if (c == '$' && scan->quote != '\'' && next != '(')
			taken = 1 + read_expansion(scan, span_skip(text, 1), '$');
		else if (c == '$' && scan->quote != '\'')
			taken = 1; /* the text in "$(...)", as a separate command */
		else if (c == '`' && scan->quotes && scan->quote != '\'')
			taken = 1 + read_expansion(scan, span_skip(text, 1), '`');
		else
			taken = read_character(scan, text);
		text = span_skip(text, taken);
	}
	end_word(scan);
}

static void scan_command(const struct git_value *row, struct span text, git_each_word *each,
                         void *data)
{
	for (int quotes = 0; quotes < 2; quotes++) {
		struct value_scan scan = { .each = each, .data = data, .quotes = quotes,
			                   .alias = row->use == GIT_USE_ALIAS };

		scan_text(&scan, text);
	}
	/* The path of a program, which may have blanks. */
	if (has_slash(text) && is_usable_word(text) && memchr(text.data, ' ', text.len) &&
	    row->use == GIT_USE_COMMAND)
		each(data, GIT_WORD_RUN, text);
}

void git_value_command_words(struct span command, git_each_word *each, void *data)
{
	for (int quotes = 0; quotes < 2; quotes++) {
		struct value_scan scan = { .each = each, .data = data, .quotes = quotes,
		                          .read = true };

		scan_text(&scan, command);
	}
}

void git_value_words(const struct git_value *row, struct span value, git_each_word *each,
                     void *data)
{
	static const enum git_word files[] = {
		[GIT_USE_FILE] = GIT_WORD_FILE,
		[GIT_USE_HOOKS] = GIT_WORD_HOOKS,
		[GIT_USE_INCLUDE] = GIT_WORD_INCLUDE,
	};
	bool shell = span_starts(value, SPAN("!"));

	if (row->use >= GIT_USE_FILE) {
		if (is_usable_word(value) && !span_starts(value, SPAN("%(prefix)/")))
			each(data, files[row->use], value);
		return;
	}
	if ((row->use == GIT_USE_UPDATE && !shell) ||
	    (row->use == GIT_USE_ALIAS && !shell && !span_starts(value, SPAN("-"))) ||
	    (row->use == GIT_USE_URL && !span_starts(value, SPAN("ext::"))))
		return;
	if (row->use == GIT_USE_URL)
		value = span_skip(value, strlen("ext::"));
	scan_command(row, shell ? span_skip(value, 1) : value, each, data);
}
