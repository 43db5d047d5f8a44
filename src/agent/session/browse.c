/* SPDX-License-Identifier: Apache-2.0 */
/* Lists sessions quickly: each file is read once, its lines are classified by how they start, and
 * JSON is parsed for only a few. */

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/context/context.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"
#include "search/match/matcher.h"

#define FILE_BYTES_MAX ((size_t)512 << 20)

enum {
	WORDS_MAX = 8,
	HEAD_BYTES = 400,         /* of a line: how far its type and time are looked for */
	LINE_PARSED_MAX = 1 << 20, /* a longer line is not parsed for what is shown */
	TITLE_BYTES = 200,
	FOUND_BYTES = 120,        /* shown around a word */
	PROMPTS_TRIED = 8,        /* messages of the user in which the first prompt is looked for */
	IDS_BACK = 256,           /* messages are written again soon, or never */
	END_BYTES = 256 << 10,
	TEXT_BYTES = 4000,        /* of a message that is shown */
	DEPTH_MAX = 64,
};

/* ---- what is searched for ---------------------------------------------------- */

struct word {
	struct matcher *plain; /* in a text */
	struct matcher *raw;   /* in the JSON of one */
};

struct words {
	struct word list[WORDS_MAX];
	size_t count;
};

static void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		matcher_free(words->list[i].plain);
		matcher_free(words->list[i].raw);
	}
}

static struct matcher *compile_literal(struct span text)
{
	const struct matcher_options options = { .pattern = text, .literal = true,
		                                 .cases = CASE_IGNORE };
	struct matcher *matcher = NULL;
	struct err ignored = ERR_INIT;

	return matcher_compile(&options, &matcher, &ignored) ? matcher : NULL;
}

static void words_add(struct words *words, struct span text)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(FILE_BYTES_MAX);
	struct word *word = &words->list[words->count];

	json_print_string(&quoted, text);
	word->plain = compile_literal(text);
	word->raw = compile_literal(span_of(quoted.data + 1, quoted.len - 2));
	words->count++;
}

static void words_init(struct words *words, struct span text)
{
	*words = (struct words){ 0 };
	while (words->count < WORDS_MAX) {
		size_t len = 0;

		text = span_trim(text);
		while (len < text.len && !memchr(" \t\n\r", text.data[len], 4))
			len++;
		if (!len)
			return;
		words_add(words, span_head(text, len));
		text = span_skip(text, len);
	}
}

/* What one thread looks with. */
struct looker {
	const struct words *words;
	struct matcher_scratch *plain[WORDS_MAX], *raw[WORDS_MAX];
	struct buf text;         /* of the file */
};

static void looker_init(struct looker *looker, const struct words *words)
{
	*looker = (struct looker){ .words = words, .text = BUF_INIT(FILE_BYTES_MAX) };
	for (size_t i = 0; i < words->count; i++) {
		const struct word *word = &words->list[i];

		looker->plain[i] = word->plain ? matcher_scratch_new(word->plain) : NULL;
		looker->raw[i] = word->raw ? matcher_scratch_new(word->raw) : NULL;
	}
}

static void looker_release(struct looker *looker)
{
	for (size_t i = 0; i < looker->words->count; i++) {
		matcher_scratch_free(looker->plain[i]);
		matcher_scratch_free(looker->raw[i]);
	}
	buf_release(&looker->text);
}

static bool word_in(struct looker *looker, size_t word, struct span text, struct text_match *ret)
{
	const struct matcher *matcher = looker->words->list[word].plain;

	return matcher && text.len &&
	       matcher_find(matcher, looker->plain[word], text, 0, ret) == MATCH_FOUND;
}

/* ---- one file ---------------------------------------------------------------- */

struct glance {
	char *id, *title, *first, *model, *found; /* owned; or NULL */
	char time[32];
	uint64_t *ids;        /* owned; of messages, hashed */
	size_t count, cap;
	size_t tried;         /* messages of the user */
	struct span last;     /* the model's last line */
	bool strange;         /* it is not as expected: to be read whole */
	bool agent;           /* of one of Gemini CLI's agents */
};

static void glance_release(struct glance *glance)
{
	free(glance->id);
	free(glance->title);
	free(glance->first);
	free(glance->model);
	free(glance->found);
	free(glance->ids);
}

static uint64_t hash_id(struct span id)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < id.len; i++)
		hash = (hash ^ (unsigned char)id.data[i]) * 1099511628211u;
	return hash;
}

/* The string after `"NAME":"`, in the head of a line; empty: it is not there. */
static struct span head_string(struct span line, const char *before)
{
	const struct span head = span_head(line, line.len < HEAD_BYTES ? line.len : HEAD_BYTES);
	const char *at = memmem(head.data, head.len, before, strlen(before)), *end;

	if (!at)
		return span_of("", 0);
	at += strlen(before);
	end = memchr(at, '"', (size_t)(head.data + head.len - at));
	return end ? span_of(at, (size_t)(end - at)) : span_of("", 0);
}

static char *one_line(struct span text, size_t most)
{
	const struct span head = utf8_head(span_trim(text), most);
	char *line = mem_dup(head.data, head.len);

	for (size_t i = 0; i < head.len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
	return line;
}

static void glance_message(struct glance *glance, struct span line, bool user)
{
	const struct span id = head_string(line, "{\"id\":\""), time =
		head_string(line, "\"timestamp\":\"");
	const uint64_t hash = hash_id(id);
	json_auto_t *value = NULL, *content = NULL;

	if (time.len && time.len < sizeof(glance->time))
		memcpy(mempcpy(glance->time, time.data, time.len), "", 1);
	if (!user)
		glance->last = line;
	for (size_t i = glance->count; i > 0 && i + IDS_BACK > glance->count; i--)
		if (glance->ids[i - 1] == hash)
			return;
	glance->ids = mem_grow(glance->ids, &glance->cap, glance->count + 1,
	                       sizeof(*glance->ids));
	glance->ids[glance->count++] = hash;
	if (!user || glance->first || glance->tried++ >= PROMPTS_TRIED ||
	    line.len > LINE_PARSED_MAX || !session_parse_line(line, &value))
		return;
	content = session_message_content(value);
	glance->first = content ? context_first_prompt_in(content) : NULL;
}

/* The session's own line, or what changes it. */
static void glance_metadata(struct glance *glance, struct span line)
{
	json_auto_t *value = NULL;
	const json_t *set;
	const char *id, *kind, *said;
	struct span summary;

	if (line.len > LINE_PARSED_MAX || !session_parse_line(line, &value)) {
		glance->strange = true;
		return;
	}
	set = json_object_get(value, "$set");
	set = set ? set : value;
	glance->strange = glance->strange || json_object_get(set, "messages");
	id = json_string_value(json_object_get(set, "sessionId"));
	if (id && !glance->id && record_id_is_valid(id))
		glance->id = mem_strdup(id);
	kind = json_string_value(json_object_get(set, "kind"));
	glance->agent = glance->agent || (kind && !strcmp(kind, "subagent"));
	summary = json_span(json_object_get(set, "summary"));
	if (summary.len) {
		free(glance->title);
		glance->title = one_line(summary, TITLE_BYTES);
	}
	said = json_string_value(json_object_get(json_object_get(set, "hasp"), "firstPrompt"));
	if (said && !glance->first)
		glance->first = mem_strdup(said);
}

static void glance_line(struct glance *glance, struct span line)
{
	if (span_starts(line, SPAN("{\"id\":"))) {
		const struct span type = head_string(line, "\"type\":\"");

		if (span_eq(type, SPAN("user")) || span_eq(type, SPAN("gemini")))
			glance_message(glance, line, type.data[0] == 'u');
		else
			glance->strange = glance->strange || !type.len;
	} else if (span_starts(line, SPAN("{\"$rewindTo\":"))) {
		const uint64_t hash = hash_id(head_string(line, "{\"$rewindTo\":\""));

		for (size_t i = glance->count; i > 0; i--)
			if (glance->ids[i - 1] == hash) {
				glance->count = i - 1;
				break;
			}
		if (!glance->count) {
			free(mem_steal(&glance->first));
			glance->tried = 0;
		}
	} else if (span_starts(line, SPAN("{\"sessionId\":")) ||
	           span_starts(line, SPAN("{\"$set\":"))) {
		glance_metadata(glance, line);
	} else if (line.len && !span_starts(line, SPAN("{\"hasp\":"))) {
		glance->strange = true;
	}
}

static void glance_model(struct glance *glance)
{
	json_auto_t *value = NULL;
	const char *model;

	if (!glance->last.len || glance->last.len > LINE_PARSED_MAX ||
	    !session_parse_line(glance->last, &value))
		return;
	model = json_string_value(json_object_get(value, "model"));
	glance->model = model ? one_line(span_str(model), TITLE_BYTES) : NULL;
}

/* A file in another form than usual, or damaged. */
static void glance_whole(struct glance *glance, struct span text)
{
	struct session_read read;
	struct err ignored = ERR_INIT;

	glance->count = 0;
	if (!session_read_text(text, &read, &ignored))
		return;
	free(glance->id);
	glance->id = mem_steal(&read.id);
	glance->count = json_array_size(read.contents) ? json_array_size(read.messages) : 0;
	free(glance->first);
	glance->first = mem_steal(&read.first_prompt);
	session_read_release(&read);
}

static void glance_text(struct glance *glance, struct span text)
{
	struct span rest = text, line;

	while (line_next(&rest, &line))
		glance_line(glance, line_body(line));
	if (glance->strange)
		glance_whole(glance, text);
	else
		glance_model(glance);
	if (!glance->title && glance->first)
		glance->title = one_line(session_prompt_title(span_str(glance->first)),
		                         TITLE_BYTES);
}

/* ---- words in a file --------------------------------------------------------- */

/* Finds the word in any string of the value; *ret_found, owned by the caller, gets the place. */
static bool word_in_value(struct looker *looker, size_t word, const json_t *value, unsigned depth,
                          char **ret_found)
{
	const struct span text = json_span(value);
	struct text_match match;
	const char *name;
	json_t *child;
	size_t i;

	if (json_is_string(value) && word_in(looker, word, text, &match)) {
		size_t from = match.start > FOUND_BYTES / 3 ? match.start - FOUND_BYTES / 3 : 0;

		while (from < match.start && ((unsigned char)text.data[from] & 0xc0) == 0x80)
			from++;
		*ret_found = one_line(span_skip(text, from), FOUND_BYTES);
		return true;
	}
	if (depth > DEPTH_MAX)
		return false;
	json_object_foreach((json_t *)value, name, child)
		if (word_in_value(looker, word, child, depth + 1, ret_found))
			return true;
	json_array_foreach(value, i, child)
		if (word_in_value(looker, word, child, depth + 1, ret_found))
			return true;
	return false;
}

/* Said, called, answered. */
static bool word_in_message(struct looker *looker, size_t word, const json_t *message,
                            char **ret_found)
{
	size_t i;
	json_t *call;

	if (word_in_value(looker, word, json_object_get(message, "content"), 0, ret_found))
		return true;
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		if (word_in_value(looker, word, json_object_get(call, "args"), 0, ret_found) ||
		    word_in_value(looker, word, json_object_get(call, "result"), 0, ret_found))
			return true;
	return false;
}

static bool is_said(struct span line)
{
	const struct span type = head_string(line, "\"type\":\"");

	return span_starts(line, SPAN("{\"id\":")) &&
	       (span_eq(type, SPAN("user")) || span_eq(type, SPAN("gemini")));
}

/* Whether the range is a name in the JSON, or comes before the message itself. */
static bool is_form(struct span line, size_t start, size_t end)
{
	const char *content = memmem(line.data, line.len < HEAD_BYTES ? line.len : HEAD_BYTES,
	                             "\"content\":", strlen("\"content\":"));

	if (content && start < (size_t)(content - line.data) + strlen("\"content\":"))
		return true;
	return start > 0 && line.data[start - 1] == '"' && end + 1 < line.len &&
	       line.data[end] == '"' && line.data[end + 1] == ':';
}

/* Each line in which the word may be is parsed, until one has it. */
static bool word_in_file(struct looker *looker, size_t word, struct span text, char **ret_found)
{
	const struct matcher *matcher = looker->words->list[word].raw;
	struct text_match match;
	size_t at = 0;

	while (matcher && at < text.len &&
	       matcher_find(matcher, looker->raw[word], text, at, &match) == MATCH_FOUND) {
		const char *before = memrchr(text.data, '\n', match.start);
		const size_t start = before ? (size_t)(before + 1 - text.data) : 0;
		const char *end = memchr(text.data + match.start, '\n', text.len - match.start);
		const size_t stop = end ? (size_t)(end - text.data) : text.len;
		const struct span line = span_of(text.data + start, stop - start);
		json_auto_t *value = NULL;

		if (is_said(line) && is_form(line, match.start - start, match.end - start)) {
			at = match.end;
			continue;
		}
		if (is_said(line) && session_parse_line(line, &value) &&
		    word_in_message(looker, word, value, ret_found))
			return true;
		at = start + line.len + 1;
	}
	return false;
}

static bool words_in(struct looker *looker, struct glance *glance, struct span text)
{
	for (size_t i = 0; i < looker->words->count; i++) {
		_cleanup_free_ char *found = NULL;
		struct text_match match;

		if (glance->title && word_in(looker, i, span_str(glance->title), &match))
			continue;
		if (!word_in_file(looker, i, text, &found))
			return false;
		if (!glance->found)
			glance->found = mem_steal(&found);
	}
	return true;
}

/* ---- all files --------------------------------------------------------------- */

struct candidate {
	char *path;       /* owned */
	char *tag;        /* owned; of a copy; or NULL */
	int64_t modified; /* nanoseconds */
	size_t size;
	json_t *row;      /* NULL: it does not count */
};

struct browse {
	struct candidate *files; /* owned */
	size_t count, cap;
	const struct words *words;
	const struct cancel *cancel;
	atomic_size_t next;
};

static json_t *glance_row(const struct glance *glance, const struct candidate *file)
{
	json_t *row = json_object();

	json_object_set_new(row, "id", json_string(glance->id));
	json_object_set_new(row, "file", json_path_bytes(file->path));
	json_object_set_new(row, "title",
	                    json_text(span_str(glance->title ? glance->title : "")));
	json_object_set_new(row, "time", json_text(span_str(glance->time)));
	json_object_set_new(row, "messages", json_size(glance->count));
	if (glance->model)
		json_object_set_new(row, "model", json_text(span_str(glance->model)));
	if (file->tag)
		json_object_set_new(row, "tag", json_cstr(file->tag));
	if (glance->found)
		json_object_set_new(row, "found", json_text(span_str(glance->found)));
	return row;
}

static void browse_file(struct looker *looker, struct candidate *file)
{
	_cleanup_fd_ int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct glance glance = { 0 };
	ssize_t got = -1;
	char *room;

	buf_clear(&looker->text);
	room = fd >= 0 && file->size ? buf_reserve(&looker->text, file->size) : NULL;
	if (room)
		got = fd_read_full(fd, room, file->size);
	if (got > 0) {
		const struct span text = span_of(room, (size_t)got);

		glance_text(&glance, text);
		if (glance.id && glance.count && !glance.agent &&
		    words_in(looker, &glance, text))
			file->row = glance_row(&glance, file);
	}
	glance_release(&glance);
}

static void *browse_thread(void *data)
{
	struct browse *browse = data;
	struct looker looker;
	size_t i;

	looker_init(&looker, browse->words);
	while ((i = atomic_fetch_add(&browse->next, 1)) < browse->count &&
	       !cancelled(browse->cancel))
		browse_file(&looker, &browse->files[i]);
	looker_release(&looker);
	return NULL;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->modified != right->modified)
		return left->modified < right->modified ? 1 : -1;
	return strcmp(left->path, right->path);
}

/* The tag that a file is named for; the caller frees; NULL: none. */
static char *tag_of(const char *name)
{
	const struct span end = SPAN(".jsonl"), text = span_str(name);

	return span_ends(text, end) && text.len > end.len ? mem_dup(name, text.len - end.len) :
	                                                    NULL;
}

static void browse_list(struct browse *browse, const char *temp, const char *name, bool tags)
{
	_cleanup_free_ char *folder = mem_printf("%s/%s", temp, name);
	DIR *files = opendir(folder);
	struct dirent *entry;
	struct stat status;

	while (files && (entry = readdir(files))) {
		_cleanup_free_ char *tag = tags ? tag_of(entry->d_name) : NULL;

		if (!(tags ? tag != NULL : session_is_name(entry->d_name)) ||
		    fstatat(dirfd(files), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		browse->files = mem_grow(browse->files, &browse->cap, browse->count + 1,
		                         sizeof(*browse->files));
		browse->files[browse->count++] = (struct candidate){
			.path = mem_printf("%s/%s", folder, entry->d_name),
			.tag = mem_steal(&tag),
			.modified = (int64_t)status.st_mtim.tv_sec * 1000000000 +
			            status.st_mtim.tv_nsec,
			.size = (size_t)status.st_size,
		};
	}
	if (files)
		closedir(files);
}

/* By the time of the last message, the latest first; the files are in that order by and large. */
static int compare_browsed(const void *a, const void *b)
{
	const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;

	return strcmp(json_string_value(json_object_get(right, "time")),
	              json_string_value(json_object_get(left, "time")));
}

static json_t *browse_found(struct browse *browse)
{
	_cleanup_free_ json_t **rows = mem_alloc(browse->count + 1, sizeof(*rows));
	json_auto_t *seen = json_object();
	json_t *list = json_array();
	size_t count = 0;

	for (size_t i = 0; i < browse->count; i++)
		if (browse->files[i].row)
			rows[count++] = browse->files[i].row;
	if (count)
		qsort(rows, count, sizeof(json_t *), compare_browsed);
	/* Of several files of one session the one that was changed last. */
	for (size_t i = 0; i < count; i++) {
		const char *id = json_string_value(json_object_get(rows[i], "id"));

		if (json_object_get(rows[i], "tag") || !json_object_get(seen, id))
			json_array_append(list, rows[i]);
		if (!json_object_get(rows[i], "tag"))
			json_object_set_new(seen, id, json_true());
	}
	return list;
}

json_t *sessions_browse(struct home *home, struct span text, const struct cancel *cancel)
{
	struct words words;
	struct browse browse = { .words = &words, .cancel = cancel };
	json_t *rows = NULL;

	words_init(&words, text);
	if (home_find(home)) {
		browse_list(&browse, home_temp(home), "chats", false);
		browse_list(&browse, home_temp(home), "tags", true);
	}
	if (browse.count)
		qsort(browse.files, browse.count, sizeof(*browse.files), compare_candidates);
	sessions_work(browse_thread, &browse, browse.count);
	if (!cancelled(cancel))
		rows = browse_found(&browse);
	for (size_t i = 0; i < browse.count; i++) {
		json_decref(browse.files[i].row);
		free(browse.files[i].path);
		free(browse.files[i].tag);
	}
	free(browse.files);
	words_release(&words);
	return rows;
}

/* ---- the end of one ---------------------------------------------------------- */

/* What was said, calls by name; the caller frees; NULL: nothing. */
static char *message_words(const json_t *message)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_BYTES);
	json_auto_t *content = session_message_content(message);
	size_t i;
	json_t *part, *call;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const struct span text = part_get_text(part);

		if (text.len && !span_starts(text, SPAN("<session_context>")) &&
		    !span_starts(text, SPAN("<hook_context>")))
			buf_span(&out, utf8_head(text, TEXT_BYTES - out.len));
	}
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		buf_printf(&out, "%s[%s]", out.len ? "\n" : "",
		           json_string_value(json_object_get(call, "name")) ?
		           json_string_value(json_object_get(call, "name")) : "?");
	return out.len ? mem_dup(out.data, out.len) : NULL;
}

/* The same id again takes the place of the earlier. */
static void end_add(json_t *list, const json_t *message)
{
	const char *type = json_string_value(json_object_get(message, "type"));
	const char *model = json_string_value(json_object_get(message, "model"));
	const json_t *id = json_object_get(message, "id");
	_cleanup_free_ char *text = message_words(message);
	json_t *row;

	if (!text || !type || json_object_get(json_object_get(message, "hasp"), "said"))
		return;
	row = json_pack("{s:s, s:o, s:O*}", "who", !strcmp(type, "user") ? "user" :
	                model ? model : "model", "text", json_text(span_str(text)), "id", id);
	for (size_t i = json_array_size(list); id && i > 0; i--)
		if (json_equal(json_object_get(json_array_get(list, i - 1), "id"), id)) {
			json_array_set_new(list, i - 1, row);
			return;
		}
	json_array_append_new(list, row);
}

static void end_rewind(json_t *list, struct span id)
{
	for (size_t i = json_array_size(list); i > 0; i--)
		if (span_eq(json_span(json_object_get(json_array_get(list, i - 1), "id")), id)) {
			while (json_array_size(list) >= i)
				json_array_remove(list, json_array_size(list) - 1);
			return;
		}
}

json_t *session_end(const char *file, size_t count)
{
	_cleanup_fd_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_free_ char *room = mem_alloc(1, END_BYTES);
	const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	const off_t from = size > END_BYTES ? size - END_BYTES : 0;
	const ssize_t got = fd >= 0 ? pread(fd, room, END_BYTES, from) : 0;
	struct span rest = span_of(room, got > 0 ? (size_t)got : 0), line;
	json_t *list = json_array();

	if (from)
		line_next(&rest, &line); /* half of one */
	while (line_next(&rest, &line)) {
		json_auto_t *value = NULL;

		if (span_starts(line, SPAN("{\"$rewindTo\":\"")))
			end_rewind(list, head_string(line, "{\"$rewindTo\":\""));
		else if (is_said(line) && session_parse_line(line_body(line), &value))
			end_add(list, value);
	}
	while (json_array_size(list) > count)
		json_array_remove(list, 0);
	return list;
}
