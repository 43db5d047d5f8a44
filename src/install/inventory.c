/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a set-up, and how they are shown. */
#include "install/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/private.h"

enum {
	PIECES_MAX = 20000,
	INVENTORY_BYTES = 1 << 20,
	PIECE_TEXT_BYTES = 4000,  /* of what one piece says of itself; of what runs programs all */
	PIECES_SHOWN = 30,        /* lines of one kind, of kinds that run nothing */
};

/* ---- adding ---------------------------------------------------------------------------- */

static char *piece_line(const char *text)
{
	return extension_line(span_str(text ? text : ""));
}

void inventory_add(struct inventory *inventory, const struct piece_said *said)
{
	struct piece *piece;

	/* What runs programs is shown whole, however much there is. */
	if (inventory->count >= PIECES_MAX && !said->runs) {
		inventory->beyond++;
		return;
	}
	inventory->at = mem_grow(inventory->at, &inventory->cap, inventory->count + 1,
	                         sizeof(*inventory->at));
	piece = &inventory->at[inventory->count++];
	*piece = (struct piece){
		.kind = said->kind, .name = piece_line(said->name),
		.text = piece_line(said->text), .file = piece_line(said->file),
		.line = said->line, .state = said->state, .why = piece_line(said->why),
		.runs = said->runs,
	};
}

/* `text` without "FOLDER/" wherever it stands. The caller frees. */
static char *text_relative(const char *text, const char *folder)
{
	const size_t len = strlen(folder);
	char *result = mem_strdup(text), *at = result;

	while (len > 1 && (at = strstr(at, folder)) != NULL) {
		const size_t whole = len + (at[len] == '/');

		if (at[len] == '/' || at[len] == ':' || at[len] == ' ')
			memmove(at, at + whole, strlen(at + whole) + 1);
		else
			at++;
	}
	return result;
}

/* "line 7" of a message; 0: none. */
static unsigned problem_line(const char *message)
{
	const char *word = strstr(message, "line ");

	return word ? (unsigned)strtoul(word + strlen("line "), NULL, 10) : 0;
}

void inventory_add_problem(struct inventory *inventory, const char *kind, const char *name,
                           const char *folder, const char *file, const char *message)
{
	_cleanup_free_ char *where = text_relative(file ? file : "", folder);
	_cleanup_free_ char *why = text_relative(message, folder);
	_cleanup_free_ char *begin = mem_printf("%s: ", where);
	const char *rest = *where && !strncmp(why, begin, strlen(begin)) ? why + strlen(begin) :
	                                                                     why;

	inventory_add(inventory, &(struct piece_said){
		.kind = kind, .name = name, .file = where, .line = problem_line(rest),
		.state = PIECE_BROKEN, .why = rest });
}

void inventory_release(struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->count; i++) {
		free(inventory->at[i].name);
		free(inventory->at[i].text);
		free(inventory->at[i].file);
		free(inventory->at[i].why);
	}
	free(inventory->at);
	*inventory = (struct inventory){ 0 };
}

size_t inventory_count(const struct inventory *inventory, enum piece_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < inventory->count; i++)
		count += inventory->at[i].state == state;
	return count;
}

/* ---- showing --------------------------------------------------------------------------- */

/* "KIND NAME". The caller frees. */
static char *piece_title(const struct piece *piece)
{
	return mem_printf("%s%s%s", piece->kind, *piece->kind && *piece->name ? " " : "",
	                  piece->name);
}

static char *piece_shown(const struct piece *piece)
{
	_cleanup_free_ char *title = piece_title(piece), *line = NULL;

	if (piece->state == PIECE_WORKS)
		return mem_printf("%s%s%s", title, *piece->text ? ": " : "", piece->text);
	if (piece->state == PIECE_UNUSED)
		return mem_printf("not used by hasp: %s%s%s", title, *piece->why ? ": " : "",
		                  piece->why);
	line = piece->line ? mem_printf(", line %u", piece->line) : mem_strdup("");
	return mem_printf("broken: %s%s%s%s%s: %s", title, *piece->file ? " (" : "", piece->file,
	                  *piece->file && !strstr(piece->why, "line ") ? line : "",
	                  *piece->file ? ")" : "", piece->why);
}

static void inventory_put_piece(struct buf *out, const struct piece *piece)
{
	_cleanup_free_ char *shown = piece_shown(piece);
	const struct span head = piece->runs ? span_str(shown) :
	                                       utf8_head(span_str(shown), PIECE_TEXT_BYTES);

	buf_str(out, "  ");
	buf_span(out, head);
	if (head.len < strlen(shown))
		buf_printf(out, " ... (cut: %zu more bytes)", strlen(shown) - head.len);
	buf_char(out, '\n');
}

/* Those of one kind, from the first of them on. */
static void inventory_put_kind(struct buf *out, const struct inventory *inventory, size_t first,
                               const char *folder)
{
	const char *kind = inventory->at[first].kind;
	const enum piece_state state = inventory->at[first].state;
	size_t count = 0;

	for (size_t i = first; i < inventory->count; i++) {
		const struct piece *piece = &inventory->at[i];

		if (piece->runs || piece->state != state || strcmp(piece->kind, kind) != 0)
			continue;
		if (++count <= PIECES_SHOWN || !folder)
			inventory_put_piece(out, piece);
	}
	if (count > PIECES_SHOWN && folder)
		buf_printf(out, "  ... and %zu more of these: \"hasp extensions validate %s\" "
		                "shows all\n", count - PIECES_SHOWN, folder);
}

/* Whether no piece of its kind and state stands before it. */
static bool is_first_of_kind(const struct inventory *inventory, size_t index)
{
	const struct piece *piece = &inventory->at[index];

	for (size_t i = 0; i < index; i++)
		if (!inventory->at[i].runs && inventory->at[i].state == piece->state &&
		    !strcmp(inventory->at[i].kind, piece->kind))
			return false;
	return true;
}

char *inventory_lines(const struct inventory *inventory, const char *folder)
{
	_cleanup_buf_ struct buf out = BUF_INIT(INVENTORY_BYTES);

	for (size_t i = 0; i < inventory->count; i++)
		if (inventory->at[i].runs)
			inventory_put_piece(&out, &inventory->at[i]);
	for (int state = PIECE_WORKS; state <= PIECE_BROKEN; state++)
		for (size_t i = 0; i < inventory->count; i++)
			if (inventory->at[i].state == (enum piece_state)state &&
			    !inventory->at[i].runs && is_first_of_kind(inventory, i))
				inventory_put_kind(&out, inventory, i, folder);
	if (inventory->beyond && !out.overflowed)
		buf_printf(&out, "  ... and %zu more pieces\n", inventory->beyond);
	return mem_printf("%s%s", out.data ? out.data : "",
	                  out.overflowed ? "\n  ... and more than can be shown\n" :
	                  out.len ? "" : "  nothing\n");
}

json_t *inventory_json(const struct inventory *inventory)
{
	static const char *const states[] = {
		[PIECE_WORKS] = "works", [PIECE_UNUSED] = "unused", [PIECE_BROKEN] = "broken",
	};
	json_t *rows = json_array();

	for (size_t i = 0; i < inventory->count; i++) {
		const struct piece *piece = &inventory->at[i];
		json_t *row = json_pack("{s:s, s:o, s:o, s:o, s:s, s:b}", "kind", piece->kind,
		                        "name", json_cstr(piece->name), "text",
		                        json_cstr(piece->text), "file", json_cstr(piece->file),
		                        "state", states[piece->state], "runs", piece->runs);

		if (piece->line)
			json_object_set_new(row, "line", json_integer(piece->line));
		if (*piece->why)
			json_object_set_new(row, "why", json_cstr(piece->why));
		json_array_append_new(rows, row);
	}
	return rows;
}
