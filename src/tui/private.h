/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share.  Everything here is for the main thread but what is said to
 * be for the agent's. */
#ifndef HASP_TUI_PRIVATE_H
#define HASP_TUI_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "net/loop/loop.h"
#include "tui/ask/ask.h"
#include "tui/editor/bindings.h"
#include "tui/editor/editor.h"
#include "tui/markdown/markdown.h"
#include "tui/term/screen.h"
#include "tui/term/term.h"
#include "tui/tui.h"
#include "tui/view/view.h"

enum {
	TAIL_BYTES_MAX = 4096,          /* of a running command's output: more is not shown */
	TAIL_ROWS = 4,                  /* of it beneath the composer */
	RUNNING_SHOWN = 4,              /* calls that are shown while they run */
	QUEUED_SHOWN = 3,               /* prompts that wait, shown */
	QUEUED_MAX = 64,                /* and kept */
	TRANSCRIPT_BYTES_MAX = 8 << 20, /* what the pager can show */
	BLOCK_TEXT_MAX = 32 << 10,      /* of one string in a call's result that is kept */
	STASH_BYTES_MAX = 4 << 20,      /* a draft that is kept on disk */
	ASIDE_MS = 500,                 /* who is typing does not answer a question (input.c) */
};

/* ---- the agent's thread (runner.c) ------------------------------------------------- */

struct runner;

enum heard_kind {
	HEARD_BUS,      /* topic, message */
	HEARD_NOTICE,   /* message: {severity, message} */
	HEARD_FOUND,    /* message: {file} of the session that is being opened */
	HEARD_BEGUN,    /* what another front gave is under way */
	HEARD_OPENED,   /* transcript, message: {model, level, history (its end), more, branch?,
	                 * window?, topic?, keyFrom?} */
	HEARD_CLOSED,   /* failed to open: err */
	HEARD_ENDED,    /* a prompt was answered: end, message {reason?, missing?, unsent?,
	                 * branch?}, err */
	HEARD_DONE,     /* another job is done: job; NULL: another front's */
};

struct heard {
	enum heard_kind kind;
	enum bus_topic topic;
	json_t *message;      /* owned by the queue; NULL: nothing */
	enum agent_end end;
	struct err err;       /* ERR_NONE: all went well */
	struct job *job;
	struct transcript *transcript; /* HEARD_OPENED: the conversation; owned by the queue */
	struct heard *next;
};

/* Something else to be done on the agent's thread while no prompt is under way. */
struct job {
	/* On the agent's thread; `opened` is all zero when nothing could be opened. */
	void (*run)(struct job *job, const struct tui_opened *opened);
	/* On the main thread, afterwards; frees it. */
	void (*done)(struct job *job);
};

/* Starts the thread. `heard` is called on the loop's thread. *ret is set in any case.
 * NO_RESOURCES. */
bool runner_new(const struct tui_options *options, struct loop *loop,
                void (*heard)(void *data, const struct heard *heard), void *data,
                struct runner **ret, struct err *err);
/* While idle: opens the host. */
void runner_begin(struct runner *runner);
/* Interrupts what is under way, closes the host with `reason` and ends the thread. What it has
 * reported until then is still delivered by the loop, or by loop_free. */
void runner_end(struct runner *runner, const char *reason);
/* After runner_end and loop_free; NULL is fine. */
void runner_free(struct runner *runner);
/* Nothing is under way, opening included. */
bool runner_idle(const struct runner *runner);
/* Whether there is a host. */
const struct tui_opened *runner_opened(const struct runner *runner);
/* While idle: a prompt, `piped` before it as host_prompt has it (may be empty). Opens first what
 * is not open. */
void runner_prompt(struct runner *runner, struct span piped, struct span prompt);
/* While idle. */
void runner_job(struct runner *runner, struct job *job);
/* While idle: closes the host and opens another, of a session (NULL: a new one). */
void runner_reopen(struct runner *runner, const char *session, const char *reason);
/* Set when the job under way is to end. */
const struct cancel *runner_cancel(const struct runner *runner);
/* The prompt or job under way ends soon. */
void runner_interrupt(struct runner *runner);
/* Reports a message as if it were the bus's; from any thread. Takes the reference. */
void runner_report(struct runner *runner, enum bus_topic topic, json_t *message);
/* Whether what is under way is another front's. */
bool runner_foreign(const struct runner *runner);
/* The terminal's name among the fronts (front_name). */
const char *runner_name(const struct runner *runner);
/* As bus_answer, in the terminal's name. */
bool runner_answer(struct runner *runner, enum bus_topic topic, const json_t *answer);

/* ---- the conversation (transcript.c) ----------------------------------------------- */

struct transcript;

/* An empty one. */
struct transcript *transcript_new(void);
void transcript_free(struct transcript *transcript); /* NULL is fine */
/* Empty again: another conversation. */
void transcript_clear(struct transcript *transcript);
/* Another's blocks come behind the ones that there are; it is empty then. */
void transcript_move(struct transcript *transcript, struct transcript *from);
/* What the user said. */
void transcript_user(struct transcript *transcript, struct span text);
/* A piece of an answer: it goes on if the last block is one. */
void transcript_answer(struct transcript *transcript, struct span piece);
/* The last bytes of the answer do not count. */
void transcript_forget(struct transcript *transcript, size_t bytes);
void transcript_thought(struct transcript *transcript, struct span text);
/* TOOL_CALL and its TOOL_RESULT. */
void transcript_call(struct transcript *transcript, const json_t *call, const json_t *result);
void transcript_notice(struct transcript *transcript, const char *severity, struct span text);
/* Rows that have no other source; taken over. */
void transcript_rows_of(struct transcript *transcript, struct rows *rows);
/* Whatever comes next is another block. */
void transcript_break(struct transcript *transcript);
/* Where in rows the entries begin. */
struct entries {
	struct entry {
		size_t row, number; /* transcript_entry's */
	} *at;                      /* owned */
	size_t count, cap;
	size_t *other;              /* numbers of those that are folded when the rest is not, or the
	                             * other way round; owned */
	size_t other_count, other_cap;
};
/* Folds an entry if it is not, and the other way round. */
void transcript_fold(struct entries *entries, size_t number);
/* Whether it is folded when the rest is not, or the other way round. */
bool transcript_is_other(const struct entries *entries, size_t number);
void transcript_entries_release(struct entries *entries);
/* All of it; folded as it was printed, or with all of the results, but for what `entries` says of
 * single ones; and where its entries begin (added to `entries`). */
void transcript_rows(const struct transcript *transcript, const struct view_how *how,
                     struct rows *rows, struct entries *entries);
/* The warnings and errors in it. */
void transcript_problems(const struct transcript *transcript, unsigned width, struct rows *rows);
/* The text of an entry: what was said as it was written, of a call what is shown of it; the caller
 * frees. NULL: it had to go meanwhile. */
char *transcript_entry(const struct transcript *transcript, size_t number, unsigned width);
/* Block by block, for the full screen. They are numbered from 0 on; those before `first` are gone.
 * Numbers begin anew when it is cleared, and the last block may have become shorter when something
 * was forgotten: how often that was is counted. */
struct transcript_state {
	size_t first, end;
	unsigned cleared, forgotten;
};
/* What there is now. */
struct transcript_state transcript_state(const struct transcript *transcript);
/* Appends the rows of a block; none for a thought unless `thoughts`. */
void transcript_block(const struct transcript *transcript, size_t number, bool thoughts,
                      const struct view_how *how, struct rows *rows);
/* Appends what stands before a block that has rows: one row, or none before the very first. */
void transcript_between(const struct transcript *transcript, size_t number, struct rows *rows);
/* Bytes of its text, which only the last one's changes. */
size_t transcript_size(const struct transcript *transcript, size_t number);
/* Whether it is an answer that is still being written; its text so far is borrowed. */
bool transcript_grows(const struct transcript *transcript, size_t number, struct span *ret_text);

/* ---- the application ---------------------------------------------------------------- */

/* A call that runs. */
struct running {
	json_t *call;     /* TOOL_CALL; owned */
	struct buf tail;  /* the end of its output */
	json_t *progress; /* TOOL_PROGRESS, the last one; owned; or NULL */
};

enum { OVERLAY_NONE, OVERLAY_SHORTCUTS, OVERLAY_TODOS };

struct pager;
struct full;
struct canvas;
struct pick;
struct browse;
struct secret;
struct live;
struct consoles;
struct complete;
struct lookup;
struct stash;
struct status_line;
struct clipboard;

/* What the status line shows. */
struct status {
	char *branch, *model, *level; /* owned; NULL: not known (yet) */
	enum approval_mode mode;
	uint64_t window;              /* tokens that fit into the model's context; 0: not known */
	uint64_t context;             /* tokens of the last request */
	uint64_t input, output, cached; /* tokens of the session */
	json_int_t cost;              /* of them, in millionths of a dollar; 0: not known */
	uint64_t added, removed;      /* lines, by its edits */
	char *key_from;               /* owned; where the model's key is; NULL: there is none */
	int quota;                    /* per cent that is left; -1: not known */
};

struct app {
	const struct tui_options *options;
	struct settings *settings;
	bool plain;
	bool source;                  /* answers are shown as their Markdown source */
	struct loop *loop;
	struct term *term;
	struct screen *screen;        /* NULL: in full screen */
	struct full *full;            /* NULL: inline */
	struct canvas *canvas;        /* the alternate screen; NULL: the main one is shown */
	struct bindings *bindings;
	struct editor *editor;
	struct runner *runner;
	struct transcript *transcript;
	struct markdown *markdown;
	struct pager *pager;          /* NULL: not shown */
	struct pick *pick;            /* likewise */
	struct browse *browse;        /* likewise */
	struct secret *secret;        /* likewise */
	struct consoles *consoles;    /* commands that are typed into */
	struct complete *complete;
	struct lookup *lookup;
	struct stash *stash;
	struct status status;
	struct status_line *status_line; /* NULL: the settings name no command */
	struct clipboard *clipboard;

	json_t *questions;            /* [{topic, message, shown?}] that wait; the first is `ask` */
	json_t *rounds;               /* of questions that are put together: how many came, by id */
	bool ruling;                  /* an answer is about to make a rule, which may answer more */
	struct ask *ask;              /* the question that is put; NULL: none */
	uint64_t ask_ms;              /* when, moved on by keys that were not for it */
	struct rows asked;            /* in plain lines: what was printed of it */
	bool aside;                   /* keys still go where they went before */

	struct running *running;      /* owned array */
	size_t running_count, running_cap;
	char **queued;                /* prompts that wait; owned */
	size_t queued_count, queued_cap;
	char *sent;                   /* the prompt under way; or NULL */
	bool spoken;                  /* something was sent or queued since the start */
	json_t *steers;               /* texts that are to join the prompt under way */
	struct buf shell_output;      /* of "!" commands, and an edited plan, for the model's next
	                               * prompt */
	json_t *todos;                /* or NULL */
	char *topic;                  /* what is worked on; or NULL */
	char *thought;                /* the subject of what the model thinks about; or NULL */
	bool answering;               /* the last that was printed is a piece of an answer */
	bool history_shown;           /* the end of a session that is not open yet is printed */
	bool printed;                 /* something was: blocks are set apart by an empty row */
	int overlay;

	uint64_t since_ms;            /* working since; 0: not working */
	uint64_t retry_ms;            /* the model is asked again then; past: nothing waits */
	struct loop_timer *tick;      /* each second of it */
	uint64_t frame_ms;            /* of the last frame */
	bool keyed;                   /* a key came since: it is shown at once */
	struct loop_timer *frame_timer;
	struct loop_timer *first_timer; /* until the first question (first.c); or NULL */
	struct loop_task frame_task;
	void (*frame)(struct app *app); /* makes one */
	bool frame_posted;

	uint64_t key_ms;              /* of the last key of the draft, or of a command */
	uint64_t quit_ms, escape_ms;  /* of the last Ctrl+C and Esc that did nothing else */
	const char *hint;             /* a line beneath the composer until the next key; or NULL */
	bool blurred;                 /* the window has not the focus */
	bool quitting;
	bool discards;                /* and the session is deleted */
	int signal;
	char *title;                  /* the last that was set */
	int progress;
};

/* ---- show.c ---- */

/* Something differs: a frame follows, at most 30 a second. */
void tui_changed(struct app *app);
/* The same at once, for a key. */
void tui_changed_now(struct app *app);
/* Ends the loop. */
void tui_quit(struct app *app);
/* How views are to be shown. */
struct view_how tui_how(const struct app *app);
/* Shows answers from now on as their Markdown source, or rendered again; what is printed stays.
 * Returns what to say of it. */
const char *tui_toggle_source(struct app *app);
/* Prints what is left of the answer that was being printed. */
void tui_end_answer(struct app *app);
/* Prints rows as a block of their own, set apart from the one before; ends an answer. The
 * transcript is given their source besides, from which the full screen makes rows of its own. */
void tui_print(struct app *app, struct rows *rows);
/* What the user said, long pastes in it folded; remembered whole. */
void tui_print_user(struct app *app, struct span text);
/* The same for rows that have no source which the transcript knows. */
void tui_print_only(struct app *app, struct rows *rows);
/* A sentence of ours; remembered, too. */
void tui_print_notice(struct app *app, const char *severity, struct span text);
/* Begins and ends showing that something is under way. */
void tui_working(struct app *app, bool working);

/* ---- full.c ---- */

/* Shows the alternate screen: the conversation's window above the live region, until full_free,
 * which prints the end of the conversation on the main screen. */
struct full *full_new(struct app *app);
void full_free(struct app *app); /* nothing, if inline */
/* Draws a frame; takes the live region's rows over. Its first row is the window's foot: it is set
 * here. */
void full_frame(struct app *app, struct live *live);
/* A text to be searched for is being typed: keys and pastes go there first. */
bool full_finds(const struct full *full);
/* Scrolls, searches, gives the mouse away and takes it; true: it was a key for that. */
bool full_key(struct app *app, const struct key *key);
/* Text that is pasted while something is searched for; true: taken. */
bool full_paste(struct app *app, struct span text);
void full_wheel(struct app *app, bool up);
/* The end of the conversation is shown from now on. */
void full_end(struct app *app);

/* ---- away.c ---- */

/* Gives the terminal to a shell (Ctrl+Z). */
void tui_suspend(struct app *app);
/* Has a text edited; NULL, or what became of it (the caller frees). */
char *tui_edit(struct app *app, struct span text, const char *name);

/* ---- follow.c ---- */

/* Shows what was reported; `data` is the app. */
void tui_heard(void *data, const struct heard *heard);

/* ---- question.c ---- */

/* Puts a question when those before it are answered, and those that are put with it are here. */
void tui_question(struct app *app, enum bus_topic topic, const json_t *message);
/* One is shown now: while the draft is being typed, its keys stay the draft's (input.c). */
void tui_question_comes(struct app *app);
/* Gives the answers to the question that is put, and to those that joined it; puts the next.
 * `answers` is taken. */
void tui_answer(struct app *app, json_t *answers);
/* Somebody has answered a question. */
void tui_answered(struct app *app, const json_t *answer);
/* Rules that an answer makes are made: others may need no answer any more. */
void tui_question_go_on(struct app *app);
/* No to all of them. */
void tui_refuse_all(struct app *app);

/* ---- history.c ---- */

/* A conversation that goes on. On any thread: all of it into a transcript; a copy of its last
 * messages, a new reference, and whether there are earlier ones. */
void history_keep(struct transcript *transcript, const json_t *contents);
json_t *history_end(const json_t *contents, bool *ret_more);
/* Prints the end of a session that is about to be opened: reading all of it takes longer. */
void tui_show_end(struct app *app, const char *file);
/* It is open: prints its end, if that is not on the screen already. */
void tui_show_history(struct app *app, const json_t *end, bool more);

/* ---- layout.c ---- */

/* Makes the live region anew; *ret is zeroed before. */
void tui_layout(struct app *app, struct live *ret);
/* Appends the list of keys, or of todos, if one is wanted. */
void tui_overlay_rows(const struct app *app, unsigned width, struct rows *rows);

/* ---- speak.c ---- */

/* In plain lines, before tui_layout: prints what elsewhere is in the live region for a while. */
void tui_speak(struct app *app);
/* Says how a text waits, likewise. */
void tui_speak_waiting(struct app *app, const char *how, struct span text);

/* ---- status.c ---- */

/* What the mode is called; never NULL. */
const char *status_mode_word(enum approval_mode mode);
/* Appends the line. */
void status_row(const struct app *app, unsigned width, struct row *row);
/* Sets the window's title and the progress, if they differ. */
void status_title(struct app *app);
/* Tells the user who looks elsewhere. */
void status_notify(struct app *app, const char *what);
void status_release(struct status *status);

/* ---- status_line.c ---- */

/* NULL: the setting statusLine names no command. */
struct status_line *status_line_new(struct app *app);
/* Ends what runs; nothing is started any more. Before the loop is freed. NULL is fine. */
void status_line_stop(struct status_line *line);
void status_line_free(struct status_line *line); /* after the loop; NULL is fine */
/* Asks the command if the state is another one. NULL is fine. */
void status_line_update(struct status_line *line);
/* What it said last, perhaps nothing; NULL: there is no command, or it fails. */
const struct row *status_line_row(const struct status_line *line);

/* ---- colours.c ---- */

/* Takes the theme that the settings name. */
void tui_theme(struct app *app);
/* All that there are, NULL-terminated; the caller frees the array, the names are borrowed. */
const char **tui_theme_names(const struct app *app);

/* ---- clipboard.c ---- */

enum pasted_kind { PASTED_TEXT, PASTED_IMAGE };

struct clipboard_events {
	/* Takes what was read. */
	void (*took)(struct app *app, enum pasted_kind kind, struct span bytes);
	/* Tells what became of copying. */
	void (*said)(struct app *app, const char *severity, const char *text);
};

/* The events are copied. */
struct clipboard *clipboard_new(struct app *app, const struct clipboard_events *events);
/* Ends what runs; nothing is started any more. Before the loop is freed. */
void clipboard_stop(struct clipboard *clipboard);
void clipboard_free(struct clipboard *clipboard); /* after the loop; NULL is fine */
/* Copies, and says what became of it, now or soon. */
void tui_copy(struct app *app, struct span text);
/* Asks for what is in the clipboard. */
void tui_paste(struct app *app);
/* True: the terminal's reply was about its clipboard. */
bool tui_clipboard_reply(struct app *app, struct span reply);
/* The path of a program of the user's, found in the absolute folders of PATH that are outside of
 * the workspace; the caller frees it. NULL: there is none. */
char *tui_program_find(const struct app *app, const char *name);

/* ---- paste.c ---- */

/* Whether the text is nothing but paths of files that exist. From any thread. */
bool paste_names_files(struct span text);
/* Puts such a text into the draft as @PATH. False: it is none, or the draft is a command. */
bool paste_files(struct app *app, struct span text);
/* Keeps an image as a file and puts that into the draft. */
void paste_image(struct app *app, struct span bytes);

/* ---- input.c ---- */

/* What was read from the clipboard, for whoever has the keyboard. */
void tui_took(struct app *app, enum pasted_kind kind, struct span bytes);

/* For struct term_options; data is the app. */
void tui_event(void *data, const struct event *event);

/* ---- send.c ---- */

/* Runs a line that command_is says yes to. */
void tui_slash(struct app *app, struct span line);
/* Offers what may complete it. */
void tui_slash_complete(struct app *app, struct editor *editor, struct span text, size_t caret);
/* command_asks_server. */
json_t *tui_slash_asks(struct app *app, struct span text, size_t caret, size_t *ret_from);

/* What Enter does with a text: a command, a "!" command, a prompt or a steer. */
void tui_send(struct app *app, struct span text);
void tui_queue(struct app *app, struct span text);
/* Puts a text that was sent, "!" before a command, into the composer. */
void tui_draft(struct app *app, struct span text);
/* A prompt, now or when what is under way is done. */
void tui_prompt(struct app *app, struct span text);
/* A steer that did not join: sent first of what waits, or, after an interruption, the draft. */
void tui_unsent(struct app *app, struct span text, bool interrupted);
/* The next that waits, if nothing is under way. */
void tui_next(struct app *app);
void tui_interrupt(struct app *app);
void tui_cycle_mode(struct app *app);
void tui_set_mode(struct app *app, enum approval_mode mode);

/* ---- consoles.c ---- */

/* None yet. */
struct consoles *consoles_new(struct app *app);
void consoles_free(struct consoles *consoles); /* NULL is fine */
/* On the agent's thread: where commands are typed into from now on; NULL: the host is closed. */
void consoles_bus(struct consoles *consoles, struct bus *bus);
/* On any thread: takes what commands on terminals write, as it is published. True: nobody else
 * needs the message (also TOOL_OUTPUT of such a command). */
bool consoles_heard(struct consoles *consoles, enum bus_topic topic, const json_t *message);
/* A call has returned; its command may go on. */
void consoles_returned(struct consoles *consoles, struct span call);
/* The window has another size. */
void consoles_resized(struct consoles *consoles);
/* The pid of the command that has the keyboard; 0: none has. */
unsigned consoles_focused(struct consoles *consoles);
/* True: it was a command's, or gave it the keyboard, or moved one to the background. */
bool consoles_key(struct consoles *consoles, const struct key *key);
bool consoles_paste(struct consoles *consoles, struct span text);
/* The screen of a call's command, at most so many rows of it; false: it has none. */
bool consoles_rows(struct consoles *consoles, struct span call, unsigned width, struct rows *rows);
/* Commands in the background. */
void consoles_away_rows(struct consoles *consoles, unsigned width, struct rows *rows);

/* ---- shell.c ---- */

/* Runs a command of the user's, while nothing is under way. */
void tui_shell(struct app *app, struct span command);

/* ---- pick.c ---- */

/* A list in the composer's place, the row `at` selected; `chosen` gets the index, or -1. Labels
 * are copied (texts). */
struct pick *pick_new(const char *title, const json_t *labels, size_t at,
                      void (*chosen)(struct app *app, void *data, int index), void *data);
void pick_free(struct pick *pick);
/* Puts it in the composer's place (taken over), instead of another; for screen readers its rows are
 * printed. */
void pick_show(struct app *app, struct pick *pick);
/* It was not asked for: a letter closes it (chosen with -1) and goes to the draft. */
void pick_yield(struct pick *pick);
/* What there is to look at before choosing (command_result.changes). */
void pick_changes(struct pick *pick, const json_t *changes);
/* Changes of files, one after the other, as rows. */
void pick_changes_rows(const json_t *changes, const struct view_how *how, struct rows *rows);
/* True: the key was its own; it may be gone afterwards. */
bool pick_key(struct app *app, const struct key *key);
void pick_rows(const struct pick *pick, bool plain, unsigned width, size_t height,
               struct rows *rows);

/* ---- first.c ---- */

/* Opens the host; before that, who has not decided yet is asked whether the folder is trusted. */
void first_begin(struct app *app);
/* While nothing is open: reads the settings again. */
void first_reload(struct app *app);
/* A key is missing: says so, and asks for one if nothing is being typed. */
void first_no_key(struct app *app, struct span why);
/* Asks for a key of a provider ("" any), which is kept; then opens what could not be opened. */
void first_ask_key(struct app *app, const char *provider);
/* While app->secret: a key that is being typed, in the composer's place. */
void first_key(struct app *app, const struct key *key);
void first_paste(struct app *app, struct span text);
void first_rows(const struct app *app, unsigned width, struct live *live);
void first_free(struct secret *secret); /* NULL is fine */

/* ---- browse.c ---- */

/* The sessions of the project, to choose one; `run` runs a command. */
void browse_new(struct app *app, void (*run)(struct app *app, struct span line));
/* Nothing is under way on the agent's thread. */
void browse_idle(struct app *app);
void browse_free(struct browse *browse); /* NULL is fine */
/* Takes any key; it may be gone afterwards. */
void browse_key(struct app *app, const struct key *key);
void browse_paste(struct app *app, struct span text);
void browse_rows(struct browse *browse, unsigned width, size_t height, struct rows *rows);

/* ---- pager.c ---- */

/* Rows to look at on the alternate screen; taken over. `end`: begins at the last. */
void pager_open(struct app *app, const char *title, struct rows *rows, bool end);
/* The whole transcript; in plain lines, the last entry of which something was left out. */
void pager_transcript(struct app *app);
/* The warnings and errors of it. */
void pager_problems(struct app *app);
void pager_close(struct app *app);
void pager_key(struct app *app, const struct key *key);
/* A notice: in its last row until the next key, if it is shown, else printed. */
void pager_notice(struct app *app, const char *severity, const char *text);
/* Pasted text, into what is being searched for; false: nothing is. */
bool pager_paste(struct app *app, struct span text);
void pager_wheel(struct app *app, bool up);
void pager_draw(struct app *app);

/* ---- complete.c ---- */

/* Nothing is fetched yet. */
struct complete *complete_new(struct app *app);
/* A session is open, or its files are known: what was typed last is completed from that, unless the
 * draft has changed since. */
void complete_again(struct complete *complete);
/* Waits for what it has begun, while the provider lives. */
void complete_stop(struct complete *complete);
void complete_free(struct complete *complete);

/* What MCP servers say may stand somewhere (lookup.c): likewise. `arrived` is called on the loop's
 * thread when an answer has come, for the draft that waits for it, if it is as it was. */
typedef void lookup_arrived(void *app, struct editor *editor, struct span text, size_t caret);
struct lookup *lookup_new(struct app *app, lookup_arrived *arrived);
void lookup_stop(struct lookup *lookup);
void lookup_free(struct lookup *lookup);
/* The answer to {"server", "params"} (host_server_complete), borrowed; NULL: it is not known yet,
 * and this draft is what waits for it. */
const json_t *lookup_values(struct lookup *lookup, const json_t *asks, struct editor *editor,
                            struct span text, size_t caret);
/* For struct editor_options; data is the app. */
void complete_offer(void *data, struct editor *editor, struct span text, size_t caret);

/* ---- stash.c ---- */

/* NULL: nothing can be kept. Restores the draft of a session that crashed, and the history. */
struct stash *stash_open(struct app *app);
/* `keep`: the draft is there for the next session. NULL is fine. */
void stash_close(struct stash *stash, bool keep);
/* The folder of that name in the project's temporary folder, made; the caller frees. NULL: *err. */
char *stash_folder(const struct stash *stash, const char *name, struct err *err);
/* Writes the draft, if it is another. */
void stash_keep(struct app *app);
/* A prompt that was sent, for later sessions. */
void stash_remember(struct stash *stash, struct span prompt);

#endif
