/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile program, made of three tables that are multiplied: how a path is spelled (ways.c), how its
 * text lies in memory (texts.c), and which call gets it (calls.c).
 *
 *     hostile WAY TEXT < targets
 *
 * A target is a line: "PATH" or "PATH there", relative to the working folder; "@" in it stands for the
 * call's name, so that each call has a place of its own.  Every call is tried on every target
 * once, or often where something changes meanwhile.  Nothing is believed that it prints: what it has
 * changed is looked for afterwards (test_campaign.py).  Exit code 0; 3: this kernel lacks the WAY or
 * TEXT; 2: called wrongly.
 *
 * To add a way, a text or a call: a row in the table of its file.
 */
#ifndef HASP_TEST_HOSTILE_H
#define HASP_TEST_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>

/* As a configuration of git it runs something; as anything else it is what was not there. */
#define ATTACK_TEXT "[core]\n\tfsmonitor = touch attacked\n"
enum { PATHS_LIMIT = 8192 };

/* ---- ways: how a path is spelled ---- */

struct aim {
	int folder;                /* AT_FDCWD or a descriptor of ours */
	bool in_root;              /* openat2 alone: the folder is the root */
	char path[PATHS_LIMIT];
	char other[PATHS_LIMIT];   /* "", or a harmless path of the same length that differs in one
	                            * byte */
};

struct way {
	const char *name;
	int rounds;                /* more than 1: something moves meanwhile */
	/* Fills in folder and path for the target; false: not to be had for it. */
	bool (*begin)(const char *target, struct aim *aim);
	void (*end)(struct aim *aim);
};

extern const struct way ways[];
/* Once before all: descriptors, deep folders, threads.  False: not to be had. */
bool ways_prepare(void);

/* ---- texts: where bytes that the kernel reads lie ---- */

struct text_kind {
	const char *name;
	int rounds;
	/* The address of `size` bytes as the kernel will read them; `other` (may be NULL) is what
	 * they are swapped with meanwhile: the same but for one byte.  NULL: not to be had. */
	const void *(*place)(int slot, const void *bytes, const void *other, size_t size);
};

extern const struct text_kind texts[];
bool texts_prepare(const struct text_kind *kind);
void texts_end(void);

/* ---- calls ---- */

struct order {
	struct aim *aim;           /* what it is to reach */
	const char *path;          /* as the kernel will read it */
	const void *(*place)(int slot, const void *bytes, const void *other, size_t size);
	char evil[4096];           /* a file of ours with the text in it, absolute */
};

struct call_kind {
	const char *name;
	bool at;                   /* takes a folder's descriptor */
	bool only_there, only_new; /* makes sense with targets of that kind alone */
	void (*make)(const struct order *order);
};

extern const struct call_kind calls[];

/* Writes the text to a descriptor, if it is one, and closes it. */
void deface_descriptor(int fd);

#endif
