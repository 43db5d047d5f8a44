/* SPDX-License-Identifier: Apache-2.0 */
/* The audit: every question, vote and answer of all sessions, as a chain of records.
 *
 *     struct audit *audit = audit_open(&options);        // NULL: it is off
 *     audit_set_session(audit, id);
 *     audit_close(audit);
 *
 * It only listens: a subscriber of the bus writes a record before the asker goes on.  Records
 * are lines of JSON in ~/.gemini/hasp-audit/00000001.jsonl and so on, mode 0600, a new file each
 * LIMIT_AUDIT_FILE_BYTES; nothing is ever removed.  All processes of a home folder share one chain:
 * each append holds the folder's lock.
 *
 *     {"n":7,"prev":"HEX","time":"...","session":"...","event":"vote",...,"sha256":"HEX"}
 *
 * `sha256` is that of the line's bytes before `,"sha256":`; `prev` is that of the record before
 * (zeros for the first).  Questions and votes are synced to the disk with the record of the answer,
 * all others immediately.  The file "head" names the last that was synced.  So a record that is
 * changed, removed, moved or put in is found, and one cut off at the end (but for a question that
 * is open), unless "head" is changed with it; a user who may write the folder can also write all of
 * it again.  Against that help signatures, and hashes that are kept elsewhere
 * (`expect`).
 *
 * To add an event: a row in listen.c.
 */
#ifndef HASP_AUDIT_AUDIT_H
#define HASP_AUDIT_AUDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/notices.h"
#include "base/span.h"
#include "bus/bus.h"

/* Below ~/.gemini. */
#define AUDIT_FOLDER "hasp-audit"

/* ---- writing ------------------------------------------------------------------------- */

struct audit;

/* All borrowed; texts are copied. */
struct audit_options {
	struct bus *bus;         /* until audit_close */
	const char *folder;      /* of the records; made when the first is written */
	const char *session_id;
	const char *project;     /* the workspace's folder */
	const char *caller;      /* whose tasks the session carries out; NULL: the user's */
	struct notices notices;  /* that a record cannot be written, once; until audit_close */
};

/* Subscribes. Never NULL. */
struct audit *audit_open(const struct audit_options *options);
/* Records belong to this session from here on. NULL audit is fine. */
void audit_set_session(struct audit *audit, const char *session_id);
/* Before the bus is freed. NULL is fine. */
void audit_close(struct audit *audit);

/* When a record is on the disk: before audit_append returns, or with the next one that is. */
enum audit_sync { AUDIT_NOW, AUDIT_LATER };

/* Appends one record, whose members come after those that all have; takes the reference.  BUSY: the
 * folder's lock is held; TOO_LARGE; errors of files. */
bool audit_append(const char *folder, json_t *record, enum audit_sync sync, struct err *err);

/* ---- reading ------------------------------------------------------------------------- */

/* One line.  Of a record that is whole `record` is set, else NULL. */
struct audit_line {
	const char *file;        /* its name in the folder */
	unsigned long long line; /* from 1 */
	struct span text;        /* without its line ending */
	const json_t *record;
};

/* Calls `each` for all lines, oldest first, until it returns false.  False: *err; a missing folder
 * is no error. */
bool audit_read(const char *folder, bool (*each)(void *data, const struct audit_line *line),
                void *data, struct err *err);

struct audit_checks {
	const char *expect;      /* a record's hash that must be in the chain; or NULL */
	const char *signers;     /* a file as ssh-keygen(1) has ALLOWED SIGNERS; NULL: signatures
	                          * are checked, but not who made them */
};

/* What was found; released with audit_findings_release. */
struct audit_findings {
	json_t *problems;        /* [{file, line, n?, message}], the first LIMIT_WARNINGS */
	uint64_t records, signatures, bad;
	char last[65];           /* the last record's hash; "" without records */
};

/* Looks at the whole chain, and at each signature.  True: it could be looked at, whatever was
 * found. */
bool audit_verify(const char *folder, const struct audit_checks *checks,
                  struct audit_findings *ret, struct err *err);
void audit_findings_release(struct audit_findings *findings);

/* ---- signatures ---------------------------------------------------------------------- */

/* What a signature of a record is about; the caller frees. */
char *audit_statement(uint64_t number, const char *hash);
/* Signs by `ssh-keygen -Y sign` with this key, which may ask for a passphrase or a touch.  NULL:
 * *err has what it says; else the signature, which the caller frees. */
char *audit_sign(const char *key, const char *name_space, struct span text, struct err *err);
/* Whether the signature is of these bytes, and by `signers` of the person `who` (both NULL: of
 * anybody).  False: *err says why. */
bool audit_check_signature(const char *signers, const char *who, const char *name_space,
                           struct span text, struct span signature, struct err *err);
/* Namespaces of ssh-keygen: of a reviewer's approval, and of a record. */
#define AUDIT_APPROVAL "hasp-approval"
#define AUDIT_RECORD "hasp-audit"

#endif
