/* SPDX-License-Identifier: Apache-2.0 */
/* The clipboard: the user's tools for it where there is a display, else the terminal.
 *
 * Tools run on a separate thread for TOOL_MS at most: the program that holds a selection may not
 * answer. They are looked up in PATH, in absolute folders outside of the workspace alone, for what
 * lies in the workspace was perhaps written by a command.  What they print is foreign: types count
 * if they are in a list of ours, texts and images go the way of everything that is pasted
 * (paste.c).
 *
 * Reports say what happened: a tool that succeeded has copied; a terminal that supports
 * OSC 5522 says whether it has; with OSC 52 all that is known is that the text was sent. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"
#include "tui/clip/clipboard.h"
#include "tui/clip/dropped.h"
#include "tui/term/frames.h"
#include "tui/term/term.h"
#include "tui/clip/user_program.h"

enum {
	TOOL_MS = 5000,
	TOOL_BYTES_MAX = 8 << 20, /* of a text that is copied or pasted */
};

/* ---- tools ------------------------------------------------------------------- */

/* Of arguments TYPE stands for the type that is asked for. */
#define TYPE "\1"

static const struct helper {
	const char *program, *display; /* a variable that says that there is one */
	const char *copy[6], *types[7], *read[8]; /* after the program; {NULL}: it cannot */
	const char *text;              /* what it calls text */
} helpers[] = {
	{ "wl-copy", "WAYLAND_DISPLAY", { "--type", "text/plain" }, { NULL }, { NULL }, NULL },
	{ "wl-paste", "WAYLAND_DISPLAY", { NULL }, { "--list-types" },
	  { "--no-newline", "--type", TYPE }, "text" },
	{ "xclip", "DISPLAY", { "-selection", "clipboard", "-in" },
	  { "-selection", "clipboard", "-out", "-target", "TARGETS" },
	  { "-selection", "clipboard", "-out", "-target", TYPE }, "UTF8_STRING" },
	{ "xsel", "DISPLAY", { "--clipboard", "--input" }, { NULL },
	  { "--clipboard", "--output" }, "" },
};

enum helper_use { TOOL_COPIES, TOOL_READS };

/* Not in a list of files: a copied file is better named than shown. */
static const char *const image_types[] = { "image/png", "image/jpeg", "image/webp", "image/gif" };

static bool helper_can(const struct helper *tool, enum helper_use use)
{
	return use == TOOL_COPIES ? tool->copy[0] != NULL : tool->read[0] != NULL;
}

/* ---- jobs -------------------------------------------------------------------- */

struct clipboard_job {
	struct clipboard *clipboard;
	struct clipboard_job *next;
	pthread_t thread;
	struct loop_task task;
	enum helper_use use;
	char *paths[ARRAY_LEN(helpers)]; /* owned; of those that can be used; NULL: not there */
	char *text;                    /* TOOL_COPIES; owned */
	size_t len;
	struct buf got;                /* TOOL_READS: what was read */
	enum pasted_kind kind;
	const struct helper *used;       /* the one that did it; NULL: none */
	const struct helper *failed;     /* the first that did not */
};

struct clipboard {
	struct clipboard_options with;
	struct cancel cancel;
	bool stopped;
	struct clipboard_job *jobs; /* under way; owned */
	struct clipboard_answer answer; /* of the terminal; its id is empty: nothing is asked */
	enum { ASKED_WRITE, ASKED_TYPES, ASKED_DATA } asked;
	enum pasted_kind kind;      /* ASKED_DATA */
	char *before;               /* ASKED_WRITE: a sentence to report first; owned */
	unsigned asked_count;
	char password[33];
};

static bool job_run(const struct clipboard_job *job, size_t i, const char *const *words,
                    const char *type, struct span input, struct buf *out)
{
	char *argv[10] = { job->paths[i] };

	for (size_t k = 0; words[k]; k++)
		argv[k + 1] = (char *)(strcmp(words[k], TYPE) == 0 ? type : words[k]);
	if (out)
		buf_clear(out);
	return user_program_run(argv, input, out, TOOL_MS, &job->clipboard->cancel);
}

/* Whether a list, by lines or blanks, has the word. */
static bool types_have(struct span list, const char *word)
{
	const size_t len = strlen(word);

	for (size_t at = 0; at + len <= list.len; at++) {
		const bool starts = at == 0 || strchr(" \r\n", list.data[at - 1]);

		if (starts && memcmp(list.data + at, word, len) == 0 &&
		    (at + len == list.len || strchr(" \r\n", list.data[at + len])))
			return true;
	}
	return false;
}

static const char *image_type_of(struct span list)
{
	for (size_t i = 0; i < ARRAY_LEN(image_types); i++)
		if (types_have(list, image_types[i]))
			return image_types[i];
	return NULL;
}

static bool types_have_text(struct span types)
{
	static const char *const text_types[] = { "text/plain;charset=utf-8", "text/plain",
		                                  "UTF8_STRING", "STRING", "TEXT" };

	for (size_t i = 0; i < ARRAY_LEN(text_types); i++)
		if (types_have(types, text_types[i]))
			return true;
	return false;
}

/* Files that were copied, else an image, else text. */
static bool job_read(struct clipboard_job *job, size_t i)
{
	const struct helper *tool = &helpers[i];
	_cleanup_buf_ struct buf types = BUF_INIT(CLIPBOARD_TYPES_BYTES_MAX);
	const char *image;

	if (tool->types[0] && !job_run(job, i, tool->types, NULL, SPAN(""), &types))
		return false;
	image = image_type_of(buf_view(&types));
	if (types_have(buf_view(&types), "text/uri-list") &&
	    job_run(job, i, tool->read, "text/uri-list", SPAN(""), &job->got) &&
	    dropped_is_files(buf_view(&job->got))) {
		job->kind = PASTED_TEXT;
		return true;
	}
	job->kind = image ? PASTED_IMAGE : PASTED_TEXT;
	buf_clear(&job->got);
	if (tool->types[0] && !image && !types_have_text(buf_view(&types)))
		return true; /* nothing that can be used */
	return job_run(job, i, tool->read, image ? image : tool->text, SPAN(""), &job->got);
}

static void *job_thread(void *data)
{
	struct clipboard_job *job = data;

	for (size_t i = 0; i < ARRAY_LEN(helpers) && !job->used; i++) {
		if (!job->paths[i])
			continue;
		if (job->use == TOOL_COPIES ?
		    job_run(job, i, helpers[i].copy, NULL, span_of(job->text, job->len), NULL) :
		    job_read(job, i))
			job->used = &helpers[i];
		else if (!job->failed)
			job->failed = &helpers[i];
	}
	loop_post(job->clipboard->with.frames->loop, &job->task);
	return NULL;
}

static void job_free(struct clipboard_job *job)
{
	for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
		free(job->paths[i]);
	buf_release(&job->got);
	free(job->text);
	free(job);
}

/* ---- what is said ------------------------------------------------------------ */

static void clipboard_say(const struct clipboard *clipboard, const char *severity,
                          const char *text)
{
	clipboard->with.said(clipboard->with.data, severity, text);
}

static void clipboard_hint(const struct clipboard *clipboard, const char *text)
{
	clipboard->with.hint(clipboard->with.data, text);
}

/* ---- copying by the terminal ------------------------------------------------- */

static void terminal_asks(struct clipboard *clipboard, size_t max)
{
	char id[24];

	clipboard_answer_release(&clipboard->answer);
	snprintf(id, sizeof(id), "hasp%u", ++clipboard->asked_count);
	clipboard_answer_init(&clipboard->answer, id, clipboard->asked == ASKED_TYPES, max);
}

static enum clipboard_way terminal_way(void)
{
	const char *tmux = getenv("TMUX"), *screen = getenv("STY");

	return tmux && *tmux ? CLIPBOARD_TMUX : screen && *screen ? CLIPBOARD_SCREEN :
	                                                            CLIPBOARD_DIRECT;
}

/* `before`: a sentence to report first, or "". */
static void copy_by_terminal(struct clipboard *clipboard, struct span text, const char *before)
{
	struct term *term = clipboard->with.term;
	const enum clipboard_way way = terminal_way();
	_cleanup_free_ char *said = NULL;
	struct buf *frame;

	if (term_plain(term) || text.len > CLIPBOARD_TEXT_BYTES_MAX) {
		said = mem_printf("%sNothing was copied: %s.", before, term_plain(term) ?
		                  "this terminal knows no clipboard, and there is no tool for it "
		                  "(wl-copy, xclip or xsel, and a display)" :
		                  "that is more than a terminal takes (1 MB)");
		clipboard_say(clipboard, "warning", said);
		return;
	}
	frame = term_frame(term);
	if (term_clipboard(term)) {
		clipboard->asked = ASKED_WRITE;
		terminal_asks(clipboard, 0);
		clipboard_put_write(frame, clipboard->answer.id, "text/plain", text);
		free(clipboard->before);
		clipboard->before = mem_strdup(before);
		clipboard_hint(clipboard, "Sent to the terminal, which has not confirmed it yet");
	} else {
		clipboard_put_text(frame, text, way);
		said = mem_printf("%sSent to the terminal (OSC 52); whether it took it, only the "
		                  "terminal knows.%s", before, way == CLIPBOARD_TMUX ?
		                  " In tmux it needs set-clipboard on or allow-passthrough on." :
		                  "");
	}
	term_frame_end(term);
	if (said)
		clipboard_say(clipboard, "info", said);
}

/* ---- copying ----------------------------------------------------------------- */

static void copy_over(struct clipboard_job *job)
{
	struct clipboard *clipboard = job->clipboard;
	const char *far = getenv("SSH_CONNECTION");
	_cleanup_free_ char *said = NULL;

	if (job->used && !(far && *far)) {
		said = mem_printf("Copied with %s.", job->used->program);
		clipboard_say(clipboard, "info", said);
		return;
	}
	/* A display of this machine is not where the user sits, or perhaps is. */
	said = job->used ? mem_printf("Copied on this machine with %s. ", job->used->program) :
	                   mem_printf("%s failed. ", job->failed->program);
	copy_by_terminal(clipboard, span_of(job->text, job->len), said);
}

/* ---- reading by the terminal ------------------------------------------------- */

static void read_by_terminal(struct clipboard *clipboard, const char *type)
{
	struct buf *frame = term_frame(clipboard->with.term);

	clipboard->asked = type ? ASKED_DATA : ASKED_TYPES;
	terminal_asks(clipboard, !type ? CLIPBOARD_TYPES_BYTES_MAX :
	                         clipboard->kind == PASTED_IMAGE ? LIMIT_MEDIA_BYTES :
	                                                           TOOL_BYTES_MAX);
	if (type)
		clipboard_put_read(frame, clipboard->answer.id, type, clipboard->password);
	else
		clipboard_put_types(frame, clipboard->answer.id);
	term_frame_end(clipboard->with.term);
	clipboard_hint(clipboard, "The terminal was asked for its clipboard; it may ask you first");
}

/* It has said which types there are: the one that is wanted is asked for. Paths are those of the
 * machine that the terminal is on. */
static void choose_type(struct clipboard *clipboard)
{
	const struct span list = buf_view(&clipboard->answer.data);
	const char *image = image_type_of(list);

	clipboard->kind = image ? PASTED_IMAGE : PASTED_TEXT;
	if (image)
		read_by_terminal(clipboard, image);
	else if (types_have_text(list))
		read_by_terminal(clipboard, "text/plain");
	else
		clipboard_hint(clipboard, "The clipboard has neither text nor an image");
}

static void write_over(struct clipboard *clipboard, enum clipboard_state state)
{
	const bool done = state == CLIPBOARD_DONE;
	_cleanup_free_ char *said = mem_printf(
		"%s%s", clipboard->before,
		done ? "Copied: the terminal has it in its clipboard (OSC 5522)." :
		state == CLIPBOARD_REFUSED ? "The terminal does not permit to set its clipboard." :
		                             "The terminal could not set its clipboard.");

	clipboard_say(clipboard, done ? "info" : "warning", said);
}

static void answer_over(struct clipboard *clipboard, enum clipboard_state state)
{
	clipboard_hint(clipboard, NULL);
	if (clipboard->asked == ASKED_WRITE) {
		write_over(clipboard, state);
	} else if (state == CLIPBOARD_DONE && clipboard->asked == ASKED_TYPES) {
		choose_type(clipboard);
		return;
	} else if (state == CLIPBOARD_DONE) {
		clipboard->with.took(clipboard->with.data, clipboard->kind,
		                     buf_view(&clipboard->answer.data));
	} else {
		clipboard_hint(clipboard, state == CLIPBOARD_REFUSED ?
		               "The terminal does not permit to read its clipboard" :
		               "The terminal's clipboard could not be read, or has too much");
	}
	clipboard_answer_release(&clipboard->answer);
	clipboard->answer.id[0] = '\0';
}

bool clipboard_reply(struct clipboard *clipboard, struct span reply)
{
	enum clipboard_state state = clipboard_answer_take(&clipboard->answer, reply);

	if (state != CLIPBOARD_FOREIGN && state != CLIPBOARD_MORE)
		answer_over(clipboard, state);
	return state != CLIPBOARD_FOREIGN;
}

/* ---- pasting ----------------------------------------------------------------- */

static void paste_by_terminal(struct clipboard *clipboard)
{
	if (term_clipboard(clipboard->with.term))
		read_by_terminal(clipboard, NULL);
	else
		clipboard_hint(clipboard, "No tool reads the clipboard (wl-paste, xclip or xsel); "
		                          "the terminal's own key pastes text");
}

static void was_read(struct clipboard_job *job)
{
	struct clipboard *clipboard = job->clipboard;

	clipboard_hint(clipboard, NULL);
	if (job->used && job->got.len)
		clipboard->with.took(clipboard->with.data, job->kind, buf_view(&job->got));
	else if (!job->used && term_clipboard(clipboard->with.term))
		paste_by_terminal(clipboard);
	else
		clipboard_hint(clipboard, job->used ?
		               "The clipboard has neither text nor an image" :
		               "The clipboard is empty, or cannot be read");
}

/* ---- both -------------------------------------------------------------------- */

static void job_arrived(struct loop_task *task)
{
	struct clipboard_job *job = (struct clipboard_job *)((char *)task -
	                                                     offsetof(struct clipboard_job, task));
	struct clipboard *clipboard = job->clipboard;
	struct clipboard_job **link = &clipboard->jobs;

	if (!clipboard->stopped)
		pthread_join(job->thread, NULL);
	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	if (!clipboard->with.frames->ended) {
		job->use == TOOL_COPIES ? copy_over(job) : was_read(job);
		frames_want_now(clipboard->with.frames);
	}
	job_free(job);
}

/* False: there is no tool to do it. */
static bool clipboard_start(struct clipboard *clipboard, enum helper_use use, struct span text)
{
	struct clipboard_job *job = mem_alloc(1, sizeof(*job));
	struct user_roots roots;
	bool any = false;

	clipboard->with.roots(clipboard->with.data, &roots);
	for (size_t i = 0; i < ARRAY_LEN(helpers); i++) {
		const char *display = strcmp(helpers[i].display, "DISPLAY") == 0 ?
		                              getenv("DISPLAY") : getenv("WAYLAND_DISPLAY");

		if (helper_can(&helpers[i], use) && display && *display)
			job->paths[i] = user_program_find(helpers[i].program, &roots);
		any = any || job->paths[i];
	}
	job->clipboard = clipboard;
	job->use = use;
	job->text = mem_dup(text.data, text.len);
	job->len = text.len;
	job->got = (struct buf)BUF_INIT(LIMIT_MEDIA_BYTES);
	job->task.run = job_arrived;
	if (!any || clipboard->stopped ||
	    pthread_create(&job->thread, NULL, job_thread, job) != 0) {
		job_free(job);
		return false;
	}
	job->next = clipboard->jobs;
	clipboard->jobs = job;
	return true;
}

void clipboard_copy(struct clipboard *clipboard, struct span text)
{
	if (!text.len)
		clipboard_say(clipboard, "info", "There is nothing to copy.");
	else if (text.len > TOOL_BYTES_MAX)
		clipboard_say(clipboard, "warning", "Nothing was copied: that is more than 8 MB.");
	else if (!clipboard_start(clipboard, TOOL_COPIES, text))
		copy_by_terminal(clipboard, text, "");
}

void clipboard_read(struct clipboard *clipboard)
{
	for (struct clipboard_job *job = clipboard->jobs; job; job = job->next)
		if (job->use == TOOL_READS)
			return; /* it is on its way */
	if (!clipboard_start(clipboard, TOOL_READS, SPAN("")))
		paste_by_terminal(clipboard);
}

/* ---- life -------------------------------------------------------------------- */

struct clipboard *clipboard_new(const struct clipboard_options *options)
{
	struct clipboard *clipboard = mem_alloc(1, sizeof(*clipboard));
	struct err ignored = ERR_INIT;
	unsigned char bytes[16];

	clipboard->with = *options;
	/* Without a descriptor for it tools still end by their time. */
	if (!cancel_init(&clipboard->cancel, &ignored))
		clipboard->cancel.fd = -1;
	/* Any other would do as well: the terminal asks its user. */
	random_distinct(bytes, sizeof(bytes));
	random_hex_print(bytes, sizeof(bytes), clipboard->password);
	return clipboard;
}

void clipboard_stop(struct clipboard *clipboard)
{
	clipboard->stopped = true;
	cancel_set(&clipboard->cancel);
	for (struct clipboard_job *job = clipboard->jobs; job; job = job->next)
		pthread_join(job->thread, NULL);
}

void clipboard_free(struct clipboard *clipboard)
{
	if (!clipboard)
		return;
	free(clipboard->before);
	clipboard_answer_release(&clipboard->answer);
	cancel_release(&clipboard->cancel);
	free(clipboard);
}
