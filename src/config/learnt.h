/* SPDX-License-Identifier: Apache-2.0 */
/* ~/.gemini/hasp-models.json: what providers of models said of themselves, so that it need not be asked in
 * each session.
 *
 *     { KEY: { "model": "openai/gpt-5", "without": { "reasoning.summary": "2026-12-23" } }, ... }
 *
 * KEY stands for an address, a model and an account (model/endpoint.c).  Everything in it has a last day and
 * can be learnt again: a file that cannot be read or written is no error, it is just not remembered.
 */
#ifndef HASP_CONFIG_LEARNT_H
#define HASP_CONFIG_LEARNT_H

#include <jansson.h>
#include <stdbool.h>

/* What is known under a key, a new reference; NULL: nothing. */
json_t *learnt_read(const char *file, const char *key);
/* Merges an object's members (taken) into what is known: the file is replaced, mode 0600; the entries that
 * were written longest ago go when there are too many.  Under the lock that settings have (config/lock.h): what
 * several processes learn at once is all kept. */
void learnt_write(const char *file, const char *key, json_t *members);

/* The day so many days from now, as a string; and whether such a day is yet to come. */
json_t *learnt_until(unsigned days);
bool learnt_holds(const json_t *until);

#endif
