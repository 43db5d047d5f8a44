/* SPDX-License-Identifier: Apache-2.0 */
/* From two texts to an edit script: cut the ends, number the lines, set aside
 * those without a partner, compare the rest, slide what can slide. */
#include "diff/diff.h"

#include "base/mem.h"
#include "diff/change.h"

/* How much is compared at once while cutting the ends. */
#define CHUNK 65536

/* Bytes that both begin with. */
static size_t common_head(struct span a, struct span b)
{
	size_t max = a.len < b.len ? a.len : b.len, n = 0;

	while (max - n >= CHUNK && memcmp(a.data + n, b.data + n, CHUNK) == 0)
		n += CHUNK;
	while (n < max && a.data[n] == b.data[n])
		n++;
	return n;
}

/* Bytes, at most `max`, that both end with. */
static size_t common_tail(struct span a, struct span b, size_t max)
{
	const char *a_end = a.data + a.len, *b_end = b.data + b.len;
	size_t n = 0;

	while (max - n >= CHUNK && memcmp(a_end - n - CHUNK, b_end - n - CHUNK, CHUNK) == 0)
		n += CHUNK;
	while (n < max && a_end[-(ptrdiff_t)n - 1] == b_end[-(ptrdiff_t)n - 1])
		n++;
	return n;
}

/* The last line that begins at or before `offset`; count when that is the end. */
static size_t line_before(const struct lines *lines, size_t offset)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if (lines->starts[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The first line that begins at or after `offset`. */
static size_t line_from(const struct lines *lines, size_t offset)
{
	size_t line = line_before(lines, offset);

	return lines->starts[line] == offset ? line : line + 1;
}

/* Leaves the lines between the common head and the common tail. */
static void cut_ends(struct line_range *a, struct line_range *b)
{
	const struct lines *al = a->lines, *bl = b->lines;
	size_t head, tail, cut, shorter;

	if (al->count == 0 || bl->count == 0)
		return;
	head = common_head(al->text, bl->text);
	cut = line_before(al, head);
	/* A line is common when it is so to its end on both sides. */
	if (line_before(bl, head) < cut)
		cut = line_before(bl, head);
	shorter = al->text.len < bl->text.len ? al->text.len : bl->text.len;
	tail = common_tail(al->text, bl->text, shorter - al->starts[cut]);
	a->from = b->from = cut;
	/* The tail of the side where it begins within a line decides for both. */
	a->count = line_from(al, al->text.len - tail);
	b->count = line_from(bl, bl->text.len - tail);
	if (al->count - a->count < bl->count - b->count)
		b->count = bl->count - (al->count - a->count);
	else
		a->count = al->count - (bl->count - b->count);
	a->count -= cut;
	b->count -= cut;
}

/* One side of the comparison without the lines that have no partner. */
struct sequence {
	uint32_t *classes; /* owned; of the lines that are left */
	uint32_t *lines;   /* owned; which lines those are, from the range's first */
	size_t count;
	unsigned char *changed; /* owned; one mark per line of the range */
};

static void sequence_release(struct sequence *sequence)
{
	free(sequence->classes);
	free(sequence->lines);
	free(sequence->changed);
}

static struct sequence sequence_new(size_t count)
{
	return (struct sequence){
		.classes = mem_alloc(count + 1, sizeof(uint32_t)),
		.lines = mem_alloc(count + 1, sizeof(uint32_t)),
		.count = count,
		.changed = mem_alloc(count + 1, 1),
	};
}

static void set_aside_alone(struct sequence *sequence)
{
	size_t kept = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		if (sequence->classes[i] == CLASS_ALONE) {
			sequence->changed[i] = 1;
			continue;
		}
		sequence->classes[kept] = sequence->classes[i];
		sequence->lines[kept++] = (uint32_t)i;
	}
	sequence->count = kept;
}

/* Moves the marks of the lines that were left to where those lines are. */
static void mark_lines(struct sequence *sequence, const unsigned char *marks)
{
	for (size_t i = 0; i < sequence->count; i++) {
		if (marks[i])
			sequence->changed[sequence->lines[i]] = 1;
	}
}

static void change_list_add(struct change_list *list, struct change change)
{
	if (list->count == list->cap)
		list->items = mem_grow(list->items, &list->cap, list->count + 1,
		                       sizeof(*list->items));
	list->items[list->count++] = change;
}

static void collect(const struct sequence *a, struct line_range a_range,
                    const struct sequence *b, struct line_range b_range,
                    struct change_list *list)
{
	size_t i = 0, j = 0;

	while (i < a_range.count || j < b_range.count) {
		size_t i0 = i, j0 = j;

		while (i < a_range.count && a->changed[i])
			i++;
		while (j < b_range.count && b->changed[j])
			j++;
		if (i > i0 || j > j0)
			change_list_add(list, (struct change){ a_range.from + i0, i - i0,
			                                       b_range.from + j0, j - j0 });
		/* What is unmarked on both sides is a pair. */
		i++;
		j++;
	}
}

static void compare(struct line_range old_range, struct line_range new_range,
                    struct change_list *list)
{
	struct sequence a = sequence_new(old_range.count);
	struct sequence b = sequence_new(new_range.count);
	unsigned char *marks;

	classes_assign(old_range, new_range, a.classes, b.classes);
	set_aside_alone(&a);
	set_aside_alone(&b);
	marks = mem_alloc(a.count + b.count + 1, 1);
	myers_mark(a.classes, a.count, b.classes, b.count, marks, marks + a.count);
	mark_lines(&a, marks);
	mark_lines(&b, marks + a.count);
	collect(&a, old_range, &b, new_range, list);
	free(marks);
	sequence_release(&a);
	sequence_release(&b);
}

void diff_lines(const struct lines *old_lines, const struct lines *new_lines,
                struct script *ret)
{
	struct line_range a = { old_lines, 0, old_lines->count };
	struct line_range b = { new_lines, 0, new_lines->count };
	struct change_list list = { 0 };

	cut_ends(&a, &b);
	if (a.count == 0 && b.count == 0)
		return;
	if (a.count == 0 || b.count == 0 || a.count + b.count >= INT32_MAX - 8)
		change_list_add(&list, (struct change){ a.from, a.count, b.from, b.count });
	else
		compare(a, b, &list);
	slide_changes(old_lines, new_lines, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct change *change = &list.items[i];
		struct span insert = { NULL, 0 };

		if (change->new_count > 0)
			insert = lines_range(new_lines, change->new_at,
			                     change->new_at + change->new_count);
		script_add(ret, (struct edit){ change->old_at, change->old_count, insert });
	}
	free(list.items);
}
