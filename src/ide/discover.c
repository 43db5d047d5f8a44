/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/discover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"

enum {
	ANCESTORS_MAX = 64,
	PORT_MAX = 65535,
	FILE_DEPTH_MAX = 8,  /* of the JSON in a file */
	NAME_SHOWN = 80,     /* bytes of an editor's name */
	TOKEN_MAX = 500,
	STAT_MAX = 512,      /* of /proc/PID/stat, up to the parent's number */
};

/* ---- what the terminal says ------------------------------------------------------ */

bool ide_is_hinted(const char **ret_editor)
{
	const char *program = getenv("TERM_PROGRAM"), *emulator = getenv("TERMINAL_EMULATOR");
	const struct {
		bool is;
		const char *editor;
	} hints[] = {
		{ getenv("CLAUDE_CODE_SSE_PORT"), "an editor" },
		{ getenv("GEMINI_CLI_IDE_SERVER_PORT"), "an editor" },
		{ getenv("GEMINI_CLI_IDE_PID"), "an editor" },
		{ program && !strcmp(program, "vscode"), "VS Code" },
		{ program && !strcmp(program, "zed"), "Zed" },
		{ program && !strcmp(program, "sublime"), "Sublime Text" },
		{ emulator && strstr(emulator, "JetBrains"), "a JetBrains IDE" },
		{ getenv("NVIM"), "Neovim" },
		{ getenv("INSIDE_EMACS"), "Emacs" },
	};
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (hints[i].is) {
			*ret_editor = hints[i].editor;
			found = true;
		}
	return found;
}

/* ---- processes -------------------------------------------------------------------- */

/* The parent and the owner of a process. False: it is not alive. */
static bool look_at_process(pid_t pid, pid_t *ret_parent, uid_t *ret_owner)
{
	char path[32], text[STAT_MAX];
	_cleanup_fd_ int fd = -1;
	struct stat status;
	const char *end;
	char state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!fd_read_text(fd, text, sizeof(text)) || fstat(fd, &status) < 0)
		return false;
	/* The name, in parentheses, may have any characters in it. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2 || strchr("ZXx", state))
		return false;
	*ret_parent = parent;
	*ret_owner = status.st_uid;
	return true;
}

static bool is_ancestor_process(pid_t pid)
{
	pid_t at = getppid();
	uid_t owner;

	for (unsigned depth = 0; depth < ANCESTORS_MAX && at > 1; depth++) {
		if (at == pid)
			return true;
		if (!look_at_process(at, &at, &owner))
			return false;
	}
	return false;
}

/* NULL: the process may speak for the terminal that hasp is in. Else why not; the caller frees. */
static char *refuse_process(json_int_t pid)
{
	const char *named = getenv("GEMINI_CLI_IDE_PID");
	pid_t parent;
	uid_t owner;

	if (pid <= 1 || pid > INT32_MAX)
		return mem_strdup("It names no process.");
	if (!look_at_process((pid_t)pid, &parent, &owner))
		return mem_printf("Its process %lld has ended.", (long long)pid);
	if (owner != geteuid())
		return mem_printf("Its process %lld belongs to another user (%u).", (long long)pid,
		                  (unsigned)owner);
	if ((named && strtoll(named, NULL, 10) == pid) || is_ancestor_process((pid_t)pid))
		return NULL;
	return mem_printf("This terminal does not belong to its process %lld.", (long long)pid);
}

/* ---- one file ---------------------------------------------------------------------- */

static bool is_in_open_folder(struct span folder, const char *workspace)
{
	_cleanup_free_ char *text = mem_dup(folder.data, folder.len);
	_cleanup_free_ char *real = folder.len && folder.data[0] == '/' ? realpath(text, NULL) :
	                                                                 NULL;

	return real && path_is_under(workspace, real);
}

/* A list of folders with ":" between them. */
static bool is_in_list(struct span list, const char *workspace)
{
	bool in = false;

	while (list.len && !in) {
		const char *end = memchr(list.data, ':', list.len);
		const size_t len = end ? (size_t)(end - list.data) : list.len;

		in = is_in_open_folder(span_head(list, len), workspace);
		list = span_skip(list, end ? len + 1 : len);
	}
	return in;
}

static bool is_in_array(const json_t *folders, const char *workspace)
{
	json_t *folder;
	size_t i;

	json_array_foreach((json_t *)folders, i, folder)
		if (i < LIMIT_IDE_FILES && is_in_open_folder(json_span(folder), workspace))
			return true;
	return false;
}

static char *read_editor_name(const json_t *said, const char *otherwise)
{
	_cleanup_buf_ struct buf line = BUF_INIT(8 * NAME_SHOWN);

	name_line(&line, span_trim(utf8_head(json_span(said), NAME_SHOWN)));
	return line.len ? buf_steal(&line) : mem_strdup(otherwise);
}

/* What may be a header's value, and nothing that would be another header. */
static char *read_token(const json_t *said)
{
	const char *token = json_string_value(said);
	const size_t len = json_string_length(said);

	return token && len && len <= TOKEN_MAX && strlen(token) == len &&
	                       mcp_is_field("Authorization", token) ?
	               mem_strdup(token) : NULL;
}

/* What a file of either kind has said. */
struct file_says {
	json_int_t pid, named_port; /* named: by the file's name */
	const json_t *port;         /* NULL: the name alone says it */
	const json_t *token;
	bool opens_this;            /* the session's folder is in one that is open */
};

/* gemini-ide-server-PID-PORT.json. False: it has another name. */
static bool read_companion(struct ide_place *place, const char *name, const json_t *said,
                           const char *workspace, struct file_says *ret)
{
	const json_t *info = json_object_get(said, "ideInfo");
	long long pid, port;
	int end = 0;

	if (sscanf(name, "gemini-ide-server-%lld-%lld.json%n", &pid, &port, &end) != 2 || !end ||
	    name[end])
		return false;
	place->name = read_editor_name(json_object_get(info, "displayName"), "VS Code");
	*ret = (struct file_says){
		.pid = pid, .named_port = port, .port = json_object_get(said, "port"),
		.token = json_object_get(said, "authToken"),
		.opens_this = is_in_list(json_span(json_object_get(said, "workspacePath")),
		                         workspace),
	};
	return true;
}

/* PORT.lock. */
static bool read_claude(struct ide_place *place, const char *name, const json_t *said,
                        const char *workspace, struct file_says *ret)
{
	const json_t *transport = json_object_get(said, "transport");
	long long port;
	int end = 0;

	if (sscanf(name, "%lld.lock%n", &port, &end) != 1 || !end || name[end])
		return false;
	if (transport && !span_eq(json_span(transport), SPAN("ws"))) {
		place->refused = mem_strdup("Its transport is not \"ws\".");
		return true;
	}
	place->name = read_editor_name(json_object_get(said, "ideName"), "An editor");
	*ret = (struct file_says){
		.pid = json_integer_value(json_object_get(said, "pid")), .named_port = port,
		.token = json_object_get(said, "authToken"),
		.opens_this = is_in_array(json_object_get(said, "workspaceFolders"), workspace),
	};
	return true;
}

static const struct {
	const char *folder; /* beneath the search's */
	bool (*read)(struct ide_place *place, const char *name, const json_t *said,
	             const char *workspace, struct file_says *ret);
} kinds[] = {
	[IDE_COMPANION] = { "gemini/ide", read_companion },
	[IDE_CLAUDE] = { "ide", read_claude },
};

static bool is_preferred(const struct ide_place *place)
{
	const char *port = place->kind == IDE_COMPANION ? getenv("GEMINI_CLI_IDE_SERVER_PORT") :
	                                                  getenv("CLAUDE_CODE_SSE_PORT");

	return port && strtoll(port, NULL, 10) == place->port;
}

/* Why what it says cannot be used; the caller frees. NULL: it can. */
static char *refuse_said(struct ide_place *place, const struct file_says *says)
{
	if (says->named_port <= 0 || says->named_port > PORT_MAX ||
	    (says->port && json_integer_value(says->port) != says->named_port))
		return mem_strdup("It does not say which port the editor listens on.");
	place->port = (unsigned)says->named_port;
	place->preferred = is_preferred(place);
	place->token = read_token(says->token);
	if (!place->token)
		return mem_strdup("It has no usable token.");
	if (!says->opens_this)
		return mem_strdup("The editor has another folder open.");
	return refuse_process(says->pid);
}

void ide_place_read(struct ide_place *place, const char *name, struct span text,
                    const struct ide_search *search)
{
	json_auto_t *said = NULL;
	struct file_says says = { 0 };
	struct err err = ERR_INIT;

	if (!json_parse_foreign(text, FILE_DEPTH_MAX, &said, NULL, &err) || !json_is_object(said))
		place->refused = mem_strdup("It is not a JSON object.");
	else if (!kinds[place->kind].read(place, name, said, search->workspace, &says))
		place->refused = mem_strdup("Its name is not one that editors use.");
	else if (!place->refused)
		place->refused = refuse_said(place, &says);
}

/* ---- folders ------------------------------------------------------------------------ */

static struct ide_place *ide_places_add(struct ide_places *places, enum ide_kind kind, char *file)
{
	struct ide_place *place;

	places->at = mem_grow(places->at, &places->cap, places->count + 1, sizeof(*places->at));
	place = &places->at[places->count++];
	*place = (struct ide_place){ .kind = kind, .file = file };
	return place;
}

/* Names of other files in these folders are none of ours. */
static bool is_candidate(enum ide_kind kind, const char *name)
{
	const struct span span = span_str(name);

	return kind == IDE_CLAUDE ? span_ends(span, SPAN(".lock")) :
	                            span_starts(span, SPAN("gemini-ide-server-")) &&
	                                    span_ends(span, SPAN(".json"));
}

static void discover_in(const char *top, enum ide_kind kind, const struct ide_search *search,
                        struct ide_places *ret)
{
	_cleanup_free_ char *folder = path_join(top, kinds[kind].folder);
	_cleanup_fd_ int fd = -1;
	struct err err = ERR_INIT;
	char **names = NULL;
	size_t count;

	fd = door_open_own(folder, &err);
	if (fd < 0) {
		if (err.code != ERR_FILE_NOT_FOUND)
			ide_places_add(ret, kind, mem_strdup(folder))->refused =
				mem_strdup(err.message);
		return;
	}
	count = door_names(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), LIMIT_IDE_FILES,
	                   &names);
	for (size_t i = 0; i < count; i++) {
		_cleanup_file_text_ struct file_text text = { 0 };
		struct err why = ERR_INIT;

		if (is_candidate(kind, names[i])) {
			struct ide_place *place = ide_places_add(ret, kind,
			                                     path_join(folder, names[i]));

			if (door_read_own(fd, folder, names[i], LIMIT_IDE_FILE_BYTES, &text, &why))
				ide_place_read(place, names[i], file_text_span(&text), search);
			else
				place->refused = mem_strdup(why.message);
		}
		free(names[i]);
	}
	free(names);
}

/* A companion that could write no file says in its own terminals where it is.  These variables are
 * the user's: a process need not speak for them. */
static void discover_named(const struct ide_search *search, struct ide_places *ret)
{
	const char *port = getenv("GEMINI_CLI_IDE_SERVER_PORT");
	const char *folders = getenv("GEMINI_CLI_IDE_WORKSPACE_PATH");
	const char *token = getenv("GEMINI_CLI_IDE_AUTH_TOKEN");
	const long long number = port ? strtoll(port, NULL, 10) : 0;
	json_auto_t *said = token ? json_text(span_str(token)) : NULL;
	struct ide_place *place;

	if (number <= 0 || number > PORT_MAX || !folders || !said)
		return;
	for (size_t i = 0; i < ret->count; i++)
		if (ret->at[i].preferred && !ret->at[i].refused)
			return;
	place = ide_places_add(ret, IDE_COMPANION, mem_strdup("GEMINI_CLI_IDE_SERVER_PORT"));
	place->port = (unsigned)number;
	place->preferred = true;
	place->name = mem_strdup("VS Code");
	place->token = read_token(said);
	if (!place->token)
		place->refused = mem_strdup("It has no usable token.");
	else if (!is_in_list(span_str(folders), search->workspace))
		place->refused = mem_strdup("The editor has another folder open.");
}

/* First those that count, of those first the one that a variable names; then Gemini CLI's. */
static int compare_ide_places(const void *a, const void *b)
{
	const struct ide_place *x = a, *y = b;

	if (!x->refused != !y->refused)
		return x->refused ? 1 : -1;
	if (x->preferred != y->preferred)
		return x->preferred ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->file, y->file);
}

void ide_discover(const struct ide_search *search, struct ide_places *ret)
{
	*ret = (struct ide_places){ 0 };
	discover_in(search->temp, IDE_COMPANION, search, ret);
	if (search->claude)
		discover_in(search->claude, IDE_CLAUDE, search, ret);
	discover_named(search, ret);
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(*ret->at), compare_ide_places);
}

void ide_places_release(struct ide_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		free(places->at[i].file);
		free(places->at[i].name);
		free(places->at[i].token);
		free(places->at[i].refused);
	}
	free(places->at);
	*places = (struct ide_places){ 0 };
}

const struct ide_place *ide_places_best(const struct ide_places *places)
{
	return places->count && !places->at[0].refused ? &places->at[0] : NULL;
}
