/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share.  All of it is the web thread's, unless said. */
#ifndef HASP_WEB_PRIVATE_H
#define HASP_WEB_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "base/sha256.h"
#include "front/command/command.h"
#include "net/http/server.h"
#include "net/loop/loop.h"
#include "web/web.h"

/* ---- people.c: who may come in ---------------------------------------------------- */

enum { WEB_SECRET_SIZE = 65 }; /* hexadecimal, with its NUL */

/* One browser of a person. */
struct web_login {
	struct web_login *next;
	struct web_person *person;
	struct sha256 cookie, key;
};

struct web_person {
	struct web_person *next;
	struct web *web;
	char id[17];
	char *name;
	unsigned roles;           /* FRONT_... */
	json_t *groups;           /* texts */
	bool is_owner, is_used;
	int64_t expires;          /* seconds since 1970, as it is shown */
	uint64_t until_ms;        /* by web.now_ms; 0: always */
	struct loop_timer *timer; /* of that: ends the person's streams when none asks */
	struct web_login *logins;
	size_t login_count;
	unsigned streams;
	double allowance;         /* requests that it may make now */
	uint64_t refilled_ms;
};

/* A link that was not used yet. */
struct web_link {
	struct web_link *next;
	struct web_person *person;
	struct sha256 token;
	uint64_t until_ms;        /* by web.now_ms */
};

/* The owner, who is always there. */
void web_people_begin(struct web *web);
void web_people_end(struct web *web);
/* A new link: "http://.../?token=..."; the caller frees.  NULL: as random_fill. */
char *web_link_make(struct web *web, struct web_person *person, struct err *err);
/* Uses one up: the secrets of the browser that came with it.  PERMISSION_DENIED: there is none;
 * errors of random_fill: the link still works. */
bool web_link_use(struct web *web, const char *token, char cookie[WEB_SECRET_SIZE],
                  char key[WEB_SECRET_SIZE], struct err *err);
/* The name of the cookie; the caller frees. */
char *web_cookie_name(const struct web *web);
/* Calls `found` for each value of that name in a Cookie header until it returns true, which is
 * returned. Pure. */
bool web_cookie_each(struct span header, struct span name, bool (*found)(void *data,
                     struct span value), void *data);
/* Who sent a request, by its Cookie header (or NULL); NULL: no one known.  People whose time is
 * over are removed. */
struct web_login *web_login_of(struct web *web, const char *cookies);
/* Whether the person's time is over; they are removed soon. */
bool web_person_is_over(const struct web_person *person);
bool web_login_has_key(const struct web_login *login, const char *key);
/* Whether the person may make one more request now. */
bool web_person_spend(struct web_person *person);
/* The word for roles: "watch", ... */
const char *web_role_name(unsigned roles);
bool web_role_parse(const char *word, unsigned *ret);
/* {"id", "name", "role", "groups", "expires", "used", "connected"}. */
json_t *web_person_json(const struct web_person *person);
/* Errors as of web_invite; `groups` is kept. */
struct web_person *web_person_add(struct web *web, const struct web_invitation *invitation,
                                  json_t *groups, struct err *err);
struct web_person *web_person_find(struct web *web, const char *which); /* or NULL */
/* Out, with all fronts and streams. */
void web_person_remove(struct web_person *person);

/* ---- route.c: requests ------------------------------------------------------------ */

/* One request while its function runs. */
struct web_exchange {
	struct web *web;
	struct http_request *http;
	struct web_login *login;     /* NULL: of the control socket, which is the owner's */
	struct web_person *person;
	struct web_session *session; /* that the path names; or NULL */
	struct span id;              /* what the path has in place of the last asterisk */
	const json_t *body;          /* an object; NULL of a GET */
};

/* What is still under way for a request: its first member. */
struct web_later {
	void (*closed)(struct web_later *later);    /* the request is over */
	void (*drained)(struct web_later *later); /* of a stream; or NULL */
};

/* Answers a request; a row of the table in route.c says which. */
typedef void web_handler(struct web_exchange *exchange);

/* Both servers' routes. */
void web_serve_routes(struct http_options *options);
/* Answers with JSON; takes the reference. */
void web_answer(struct http_request *request, unsigned status, json_t *value);
/* With an error: its status and code. */
void web_refuse(struct http_request *request, const struct err *err);
void web_refuse_with(struct http_request *request, unsigned status, const char *code,
                     const char *sentence);
/* A text member of the body, not empty; NULL: the request was refused. */
const char *web_text_of(struct web_exchange *exchange, const char *name);

/* ---- names.c ---------------------------------------------------------------------- */

/* What the served address is called, where it is not loopback's first: web.names. */
void web_names_make(struct web *web);
void web_names_release(struct web *web);
/* The name in links, as an address has it: the first that was given, unless it has a port, or what
 * the served address is called; borrowed. */
const char *web_name_of_links(const struct web *web);

/* ---- pages.c ---------------------------------------------------------------------- */

/* GET of a path that is not below /api/. */
void web_page_answer(struct web *web, struct http_request *request);

/* ---- session.c -------------------------------------------------------------------- */

/* A person in a session: what answers and orders go through. */
struct web_seat {
	struct web_seat *next;
	struct web_person *person;
	struct front *front;
	unsigned tasks;           /* of it that are under way */
	bool is_left;             /* detached when the last of these has ended */
};

/* A page that follows a session (stream.c). */
struct web_follower {
	struct web_follower *next;
	struct web_person *person;
	/* Takes it out of the session: after what is there, or cut off. */
	void (*end)(struct web_follower *follower, bool cut);
};

struct web_session {
	struct web_session *next;
	struct web *web;
	char id[12];
	struct front_runner *runner;
	struct front_session *session;
	struct web_seat *seats;
	struct web_follower *followers;
	struct web_task *tasks;
	struct front *keeper;     /* the owner's front, which follows the state */
	struct loop_waker *waker;    /* of it */
	json_t *questions;        /* ids of those that are open, as names */
	json_t *commands;         /* [{"name", "description", "hint"?}] */
	_Atomic(json_t *) looked_up; /* owned: the next of these; or NULL */
	struct front_task look;   /* on the session's thread: looks them up again ... */
	bool is_looking;          /* ... and was given to it; ... */
	bool looks_again;         /* ... again when it is done: there is something new */
	bool is_opened, is_working, is_over;
	uint64_t last;            /* the last event that the keeper took */
	char updated[32];         /* when something happened last (clock_timestamp) */
	struct web_own *own;      /* what there is of one that the server opened; or NULL */
};

/* Shows a session of this process. NULL: LIMIT_REACHED. */
struct web_session *web_session_add(struct web *web, struct front_runner *runner,
                                    struct front_session *session, struct err *err);
/* Its pages get what is there, and end; nothing of this room is attached to it then. */
void web_session_remove(struct web_session *session);
/* "opening", "idle", "working", "question", "closed". */
const char *web_session_state(const struct web_session *session);
struct web_session *web_session_find(struct web *web, struct span id);
/* The front of a person, attached now if it was not. NULL: *err. */
struct web_seat *web_seat_of(struct web_session *session, struct web_person *person,
                             struct err *err);
/* The person's fronts and streams, everywhere. */
void web_person_leave(struct web_person *person);
/* The person has a link, and may come and answer questions of all sessions. */
void web_person_join(struct web_person *person);

/* Something on a session's thread that answers a request when it is done. */
struct web_task {
	struct web_later later;      /* the first member */
	struct front_task task;
	struct loop_task ended;
	struct loop *loop;
	atomic_bool has_run;
	struct web_task *next;
	struct web_session *session; /* NULL: it is not there any more */
	struct web_seat *seat;
	struct http_request *request; /* NULL: it is over */
	/* On the session's thread. */
	void (*run)(struct web_task *task, struct front_session *session);
	/* On the web thread, then: answers, and frees what is the task's. Without a request, and
	 * also for a task that did not run. */
	void (*done)(struct web_task *task, bool has_run);
};
/* Gives it; refuses the request where that fails, and frees the task by `done`. */
void web_task_give(struct web_exchange *exchange, struct web_task *task);

/* ---- stream.c --------------------------------------------------------------------- */

web_handler web_do_events;
/* Appends an event as a page gets it. Pure. */
void web_event_print(struct buf *out, const struct front_event *event, bool is_own);

/* ---- orders.c --------------------------------------------------------------------- */

web_handler web_do_prompt, web_do_steer, web_do_interrupt, web_do_mode, web_do_answer,
            web_do_comment;

/* ---- commands.c ------------------------------------------------------------------- */

/* Whether it is only for hasp's own terminal; NULL is not. */
bool web_command_is_left_out(const struct command_info *command);
/* For a command that a page gives; on the session's thread. */
struct command_context web_command_context(struct front_session *session);
/* The commands that a page may give, without those that only the session's thread knows (skills,
 * prompts of MCP servers): [{"name", "description", "hint"?}], a new reference. */
json_t *web_commands(struct front_session *session);
/* Looks up all of them, when the session is opened: web_session.looked_up.  As
 * front_options.opened; `data` is the web_session. */
void web_commands_look(void *data, struct front_session *session);
/* Has that done again, when the session's thread has time: a server has listed its prompts. */
void web_commands_look_again(struct web_session *session);
/* That is done (FRONT_DONE of the keeper with a task). */
void web_commands_looked(struct web_session *session);
/* What was looked up last; borrowed. */
const json_t *web_commands_known(struct web_session *session);

/* ---- changes.c -------------------------------------------------------------------- */

web_handler web_do_changes, web_do_undo;
/* A unified diff turned round: from new to old. Pure. */
void web_diff_reverse(struct span diff, struct buf *out);
/* The hunks of a diff with these numbers (from 0, an array; NULL: all), with its head.  False: one
 * is not there. Pure. */
bool web_diff_choose(struct span diff, const json_t *hunks, struct buf *out);

/* ---- own.c ------------------------------------------------------------------------ */

web_handler web_do_open, web_do_close;
/* Answers with a list and the recorded ones; takes it. */
void web_own_list(struct web_exchange *exchange, json_t *list);
/* Ends all of them, and waits. */
void web_own_end(struct web *web);

/* ---- lists.c ---------------------------------------------------------------------- */

web_handler web_do_me, web_do_sessions, web_do_session, web_do_record;

/* ---- stats.c ---------------------------------------------------------------------- */

web_handler web_do_stats;

/* ---- control.c -------------------------------------------------------------------- */

web_handler web_do_invite, web_do_invites, web_do_revoke;
/* Opens the socket of `hasp web`. False: *err. */
bool web_control_open(struct web *web, struct err *err);

/* ---- certificate.c ---------------------------------------------------------------- */

/* The texts of a certificate and its key, from files or made for this run (for the addresses
 * and the hosts); the fingerprint of the certificate.  All three are the caller's. */
bool web_certificate(const struct web *web, char **ret_certificate, char **ret_key,
                     char **ret_fingerprint, struct err *err);

/* ---- web.c ------------------------------------------------------------------------ */

struct web {
	struct web_options options;
	struct loop *loop;
	struct pool *pool;           /* for what waits; NULL: not needed yet */
	bool is_ending;              /* no more jobs */
	bool is_counting;            /* stats.c */
	pthread_t thread;
	bool is_started;
	struct http_server *server, *control;
	char *control_path;          /* owned */
	char *certificate, *key, *fingerprint; /* owned; NULL: no TLS */
	char *names[LIMIT_WEB_NAMES]; /* owned: the served address, or all of this machine */
	size_t name_count;
	struct web_person *people;   /* the owner first */
	struct web_link *links;
	struct web_session *sessions;
	size_t session_count, stream_count;
	unsigned last_session;
	uint64_t (*now_ms)(void);                 /* clock_boot_ms */
	void (*leave)(struct web_person *person); /* web_person_leave */
	void (*join)(struct web_person *person);  /* web_person_join */
};

/* Runs a function on the web thread, and waits for it. */
void web_call(struct web *web, void (*run)(struct web *web, void *data), void *data);
/* Something on a thread of the pool that answers a request when it is done. */
struct web_job {
	struct web_later later;       /* the first member */
	struct loop_job job;
	struct web *web;
	struct http_request *request; /* NULL: it is over, or there was none */
	void (*run)(struct web_job *job);
	/* On the web thread, then: answers, and frees the job. */
	void (*then)(struct web_job *job);
};
/* Where no more are taken, the request is refused and `then` called without one. */
void web_job_give(struct web_exchange *exchange, struct web_job *job);

#endif
