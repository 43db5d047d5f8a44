/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what servers say when something is wrong, as one of hasp's errors.
 *
 *     struct fault fault = { .format = FAULT_OPENAI, .status = ..., .words = { ... } };
 *     trouble = fault_set(&fault, err);
 *
 * Words (codes, types) are looked up first, then what the sentence says (context too long, spending
 * limits: most servers have no word for these), then the HTTP status decides.  All of this is in
 * the tables of fault.c.
 *
 * To add an error: a row there, and one in test/model/test_errors.py.
 *
 * Not here: where a format has its words and its sentence (the `error` of each format), and what
 * is done about an error (stream_retry_after in stream.h).
 */
#ifndef HASP_MODEL_FAULT_H
#define HASP_MODEL_FAULT_H

#include "base/buf.h"
#include "model/provider.h"

/* Whose errors a row is about, as bits. */
enum fault_format { FAULT_OPENAI = 1, FAULT_ANTHROPIC = 2, FAULT_GEMINI = 4 };

/* What an answer says of its error. */
struct fault {
	enum fault_format format;
	int status;            /* of HTTP, or of the error itself (fault_find_status); 0: unknown */
	struct span words[2];  /* the more exact one first; may be empty */
	struct span message;   /* the sentence; may be empty */
	bool used_up;          /* the format knows that a quota is, whatever the rows say */
};

/* Fills `err` with the class and the sentence, cleaned. Without a status that is MODEL_ERROR, and
 * worth another try, unless a row says otherwise. */
enum wire_trouble fault_set(const struct fault *fault, struct err *err);

/* The class and the error of an answer with this status alone: 401 and 403 AUTHENTICATION_FAILED;
 * 402 QUOTA_EXCEEDED; 413 CONTEXT_TOO_LARGE; 408, 425, 429, 499 and 500 and above OVERLOADED,
 * transient; others INVALID_ARGUMENT.  `sentence`: hasp's own, or one that fault_clean has cleaned,
 * or empty. */
enum wire_trouble fault_set_status(int status, struct span sentence, struct err *err);

/* The status of an error: `status` itself, or the number in its member "code", or the one that
 * `word` means in this format; 0: unknown. `error` may be NULL. */
int fault_find_status(enum fault_format format, int status, const json_t *error, struct span word);

/* "try again in 1.5s", "in 20ms", "in 6m0s" in a sentence: seconds; -1: nothing of the sort. */
double fault_delay(struct span message);

/* "1.5s", "20ms", "6m0s" at the start of a text: seconds; -1: nothing of the sort. */
double fault_duration(struct span text);

/* ---- messages about failures, all of which are composed here -------------------- */

/* Appends "WHY Retrying in 5 s." (0: "WHY Retrying.") */
void fault_say_retry(struct buf *out, const char *why, unsigned delay_ms);
/* "WHY Retrying without WHAT." */
void fault_say_without(struct buf *out, const char *why, const char *what);
/* Which tools a provider rejects, NAMES with ", " between them; `all`: no others are left. */
void fault_say_tools(struct buf *out, const char *id, struct span names, size_t count, bool all);
/* "WHY Continuing with TO until 15:04, when FROM is tried again." `until`: seconds since 1970. */
void fault_say_switch(struct buf *out, const char *why, const char *to, const char *from,
                      int64_t until);
/* "Continuing with TO again, after FROM." */
void fault_say_back(struct buf *out, const char *to, const char *from);

/* The body of an error as a value (new reference): what its JSON has, of a list the first, or a
 * text that is short enough to be read. */
json_t *fault_body(struct span body);

/* Appends a sentence for a reader: one line without control characters, without what looks like a
 * key, at most some 400 bytes. */
void fault_clean(struct buf *out, struct span text);

#endif
