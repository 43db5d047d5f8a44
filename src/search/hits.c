/* SPDX-License-Identifier: Apache-2.0 */
#include "search/hits.h"

#include <stdlib.h>

#include "base/mem.h"

/* The first line is shown, however small the limits are. */
enum { FIRST_LINE_BYTES = 1 << 20 };

void hits_init(struct hits *hits, const struct search_request *request)
{
	*hits = (struct hits){ .request = request };
	pthread_mutex_init(&hits->lock, NULL);
}

static void file_release(struct file_match *file)
{
	free(file->path);
	free(file->lines);
	free(file->text);
}

void hits_release(struct hits *hits)
{
	for (size_t i = 0; i < hits->count; i++)
		file_release(&hits->files[i]);
	free(hits->files);
	free(hits->horizon);
	free(hits->too_hard);
	pthread_mutex_destroy(&hits->lock);
}

static size_t weight_of(const struct hits *hits, const struct file_match *file)
{
	return hits->request->output == SEARCH_LINES ? file->matches : 1;
}

static size_t bytes_of(const struct file_match *file)
{
	size_t bytes = sizeof(*file) + file->line_count * sizeof(*file->lines);

	for (size_t i = 0; i < file->line_count; i++)
		bytes += file->lines[i].text.len;
	return bytes;
}

static int compare_paths(const void *a, const void *b)
{
	const struct file_match *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static void sort(struct hits *hits)
{
	if (hits->count > 1)
		qsort(hits->files, hits->count, sizeof(*hits->files), compare_paths);
}

/* Drops the files after the first that together have more than is asked for. */
static void settle(struct hits *hits)
{
	const struct search_request *request = hits->request;
	size_t keep = 0;

	sort(hits);
	hits->weight = hits->bytes = 0;
	while (keep < hits->count && hits->weight <= request->max_matches &&
	       hits->bytes <= request->max_bytes) {
		hits->weight += weight_of(hits, &hits->files[keep]);
		hits->bytes += bytes_of(&hits->files[keep]);
		keep++;
	}
	if (keep == hits->count)
		return;
	while (hits->count > keep)
		file_release(&hits->files[--hits->count]);
	hits->more = true;
	free(hits->horizon);
	hits->horizon = mem_strdup(hits->files[keep - 1].path);
	atomic_store(&hits->has_horizon, true);
}

void hits_add(struct hits *hits, struct file_match *file)
{
	const struct search_request *request = hits->request;

	pthread_mutex_lock(&hits->lock);
	if (hits->count == hits->cap)
		hits->files = mem_grow(hits->files, &hits->cap, hits->count + 1,
		                       sizeof(*hits->files));
	hits->files[hits->count++] = *file;
	hits->weight += weight_of(hits, file);
	hits->bytes += bytes_of(file);
	if (hits->weight / 2 > request->max_matches || hits->bytes / 2 > request->max_bytes)
		settle(hits);
	pthread_mutex_unlock(&hits->lock);
}

void hits_note_too_hard(struct hits *hits, char *path)
{
	char *old = path;

	pthread_mutex_lock(&hits->lock);
	if (!hits->too_hard || strcmp(path, hits->too_hard) < 0) {
		old = hits->too_hard;
		hits->too_hard = path;
	}
	pthread_mutex_unlock(&hits->lock);
	free(old);
}

bool hits_is_past(struct hits *hits, const char *path)
{
	bool past;

	if (!atomic_load_explicit(&hits->has_horizon, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&hits->lock);
	past = strcmp(path, hits->horizon) > 0;
	pthread_mutex_unlock(&hits->lock);
	return past;
}

/* Drops the context at the end that belongs to a match that was cut off. */
static void drop_context(struct file_match *file, size_t after)
{
	size_t last = 0;

	for (size_t i = 0; i < file->line_count; i++)
		if (file->lines[i].match)
			last = file->lines[i].number;
	while (file->line_count > 0 && file->lines[file->line_count - 1].number > last + after)
		file->line_count--;
}

/* Cuts the lines of a file after `max` matches and `max_bytes` bytes. Returns false when there
 * is nothing left of it. */
static bool cut(struct file_match *file, size_t max, size_t max_bytes, size_t after)
{
	size_t matches = 0, bytes = 0, keep = 0;

	for (; keep < file->line_count; keep++) {
		const struct search_line *line = &file->lines[keep];

		bytes += sizeof(*line) + line->text.len;
		if (bytes > max_bytes || (line->begins && matches == max))
			break;
		matches += line->begins;
	}
	if (keep < file->line_count) {
		file->more = true;
		file->line_count = keep;
		drop_context(file, after);
	}
	return matches > 0;
}

/* Matches that begin in what is left of a file. */
static size_t shown_matches(const struct file_match *file)
{
	size_t count = 0;

	for (size_t i = 0; i < file->line_count; i++)
		count += file->lines[i].begins;
	return count;
}

static void cut_lines(struct hits *hits, struct search_result *ret)
{
	size_t left = hits->request->max_matches, bytes = hits->request->max_bytes, keep = 0;

	for (; keep < hits->count; keep++) {
		struct file_match *file = &hits->files[keep];
		size_t used;

		if (left == 0 || !cut(file, left, keep == 0 ? bytes + FIRST_LINE_BYTES : bytes,
		                      hits->request->after))
			break;
		used = bytes_of(file);
		bytes = bytes > used ? bytes - used : 0;
		left -= shown_matches(file) < left ? shown_matches(file) : left;
		ret->matches += shown_matches(file);
		ret->more |= file->more;
		if (bytes == 0)
			left = 0;
	}
	ret->more |= keep < hits->count;
	while (hits->count > keep)
		file_release(&hits->files[--hits->count]);
}

static void cut_files(struct hits *hits, struct search_result *ret)
{
	while (hits->count > hits->request->max_matches) {
		file_release(&hits->files[--hits->count]);
		ret->more = true;
	}
	for (size_t i = 0; i < hits->count; i++)
		ret->matches += hits->files[i].matches;
}

void hits_finish(struct hits *hits, struct search_result *ret)
{
	sort(hits);
	ret->more |= hits->more;
	if (hits->request->output == SEARCH_LINES)
		cut_lines(hits, ret);
	else
		cut_files(hits, ret);
	ret->too_hard_path = mem_steal(&hits->too_hard);
	ret->files = hits->files;
	ret->count = hits->count;
	hits->files = NULL;
	hits->count = hits->cap = 0;
}
