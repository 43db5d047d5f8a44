/* SPDX-License-Identifier: Apache-2.0 */
/* The default policies (defaults/NAME.toml) as text, by embed.py. Private to this folder. */
#ifndef HASP_POLICY_DEFAULTS_H
#define HASP_POLICY_DEFAULTS_H

struct default_text {
	const char *name; /* NULL ends the array */
	const char *text;
};

extern const struct default_text default_texts[];

#endif
