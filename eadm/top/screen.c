// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the screen and handles keys. */
#define NCURSES_NOMACROS	/* use the functions, not macros */
#include <arpa/inet.h>
#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../late.h"
#include "../out/term.h"
#include "../signals.h"
#include "top.h"

#define CURSES_FUNCTIONS(f)						\
	f(newterm) f(endwin) f(delscreen) f(cbreak) f(noecho)		\
	f(keypad) f(wtimeout) f(wgetch) f(werase) f(wmove)		\
	f(waddnstr) f(wattr_set) f(wrefresh) f(wclrtoeol) f(curs_set)	\
	f(has_colors) f(start_color) f(use_default_colors) f(init_pair)	\
	f(getmaxx) f(getmaxy) f(clearok) f(stdscr)

LATE_LIBRARY(curses, CURSES_FUNCTIONS);
LATE_OPENER(curses, CURSES_FUNCTIONS, "libncursesw.so.6", "recommended",
	    "the screen of 'eadm top'");

#define MAX_WIDTH 512
#define MAX_CELL 48
#define MIN_ROWS 5
#define MIN_COLS 20

enum color { PLAIN, RED, YELLOW };

struct screen {
	struct top *top;
	SCREEN *term;
	WINDOW *win;
	int rows, cols;
	size_t first;		/* first row that is shown */
	bool help, typing, colors;
	char typed[sizeof(((struct top *)0)->match)];
	uint64_t left;		/* number of remaining refreshes */
	uint64_t next;		/* time of the next refresh */
};

/* ---- drawing ----------------------------------------------------------------------- */

static void put_line(struct screen *s, int y, attr_t attr, short pair,
		     const char *text)
{
	char line[MAX_WIDTH];
	int i;

	if (y >= s->rows)
		return;
	/* Writing the last column of the last line would scroll some terminals. */
	for (i = 0; text[i] && i < s->cols - (y == s->rows - 1) &&
		    i < MAX_WIDTH - 1; i++)
		line[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	line[i] = '\0';
	curses.wattr_set(s->win, attr, pair, NULL);
	curses.wmove(s->win, y, 0);
	curses.waddnstr(s->win, line, i);
	if (attr & A_REVERSE) {
		for (; i < s->cols - (y == s->rows - 1); i++)
			curses.waddnstr(s->win, " ", 1);
	}
	curses.wattr_set(s->win, A_NORMAL, 0, NULL);
}

/* Prints a text unchanged, because this program generated it. */
static void put_plain(struct screen *s, int y, const char *text)
{
	if (y >= s->rows)
		return;
	curses.wmove(s->win, y, 0);
	curses.waddnstr(s->win, text, -1);
}

struct text_row {
	char cell[N_ROW_COLS][MAX_CELL];
	bool has[N_ROW_COLS];
	short pair;
};

static void take_row(struct screen *s, const struct column *cols,
		     unsigned int n, const struct eadm_value *values,
		     struct text_row *row)
{
	const char *color;
	unsigned int i;

	row->pair = PLAIN;
	for (i = 0; i < n; i++) {
		row->has[i] = is_there(&values[i]);
		text_of_value(&cols[i], &values[i], row->cell[i], MAX_CELL);
		if (!s->colors || cols[i].kind != EADM_KIND_STATE ||
		    !row->has[i])
			continue;
		color = term_color_of(row->cell[i]);
		if (color)
			row->pair = *color == 'r' ? RED : YELLOW;
	}
}

static bool is_left(const struct column *col)
{
	return col->type == EADM_TYPE_STRING;
}

static void add_cell(char *line, size_t *at, const struct column *col,
		     int width, const char *text)
{
	if (*at >= MAX_WIDTH - 1)
		return;
	*at += snprintf(line + *at, MAX_WIDTH - *at,
			is_left(col) ? "%s%-*s" : "%s%*s", *at ? " " : "",
			width, text);
}

/* Draws headings and rows; columns that are empty in all rows are omitted. */
static int draw_table(struct screen *s, int y, const struct column *cols,
		      unsigned int n, const struct text_row *rows,
		      unsigned int n_rows)
{
	int width[N_ROW_COLS] = { 0 };
	char line[MAX_WIDTH];
	unsigned int i, j;
	size_t at = 0;

	for (j = 0; j < n_rows; j++) {
		for (i = 0; i < n; i++) {
			int len = strlen(rows[j].cell[i]);

			if (rows[j].has[i] && !width[i])
				width[i] = strlen(cols[i].head);
			if (rows[j].has[i] && len > width[i])
				width[i] = len;
		}
	}
	line[0] = '\0';
	for (i = 0; i < n; i++) {
		/* Omit a column rather than truncate it. */
		if (at && at + 1 + width[i] > (size_t)s->cols)
			width[i] = 0;
		if (width[i])
			add_cell(line, &at, &cols[i], width[i], cols[i].head);
	}
	put_line(s, y++, A_REVERSE, PLAIN, line);
	for (j = 0; j < n_rows; j++) {
		at = 0;
		line[0] = '\0';
		for (i = 0; i < n; i++) {
			if (width[i])
				add_cell(line, &at, &cols[i], width[i],
					 rows[j].cell[i]);
		}
		put_line(s, y++, A_NORMAL, rows[j].pair, line);
	}
	return y;
}

/* Draws one line per device, if most of the screen remains for QPs. */
static int draw_traffic(struct screen *s, int y, unsigned int n)
{
	char line[MAX_WIDTH];
	unsigned int i;

	for (i = 0; i < n && n <= (unsigned int)s->rows / 6; i++) {
		if (top_traffic_line(&s->top->dev[i], s->cols, line,
				     sizeof(line)))
			put_plain(s, y++, line);
	}
	return y;
}

static int draw_devs(struct screen *s, int y)
{
	const struct top *top = s->top;
	struct text_row *rows;
	struct eadm_value values[N_DEV_COLS];
	unsigned int i, n = top->n_devs, room = s->rows / 3;
	char more[64];

	if (!n) {
		put_line(s, y++, A_REVERSE, PLAIN, "no device");
		return y;
	}
	if (n > room)
		n = room;
	rows = calloc(n, sizeof(*rows));
	for (i = 0; rows && i < n; i++) {
		top_dev_values(&top->dev[i], values);
		take_row(s, top->dev_table.cols, N_DEV_COLS, values, &rows[i]);
	}
	y = draw_table(s, y, top->dev_table.cols, N_DEV_COLS, rows, rows ? n : 0);
	free(rows);
	y = draw_traffic(s, y, n);
	if (n < top->n_devs) {
		snprintf(more, sizeof(more), "... %u more %s",
			 top->n_devs - n,
			 plural(top->n_devs - n, "device", "devices"));
		put_line(s, y++, A_NORMAL, PLAIN, more);
	}
	return y;
}

static void draw_rows(struct screen *s, int y)
{
	struct top *top = s->top;
	const struct table *table = top_rows_table(top);
	int room = s->rows - y - 2;	/* headings and the line of keys */
	struct eadm_value values[N_ROW_COLS];
	char peer[INET6_ADDRSTRLEN];
	struct text_row *rows;
	size_t i, n = 0;

	if (room <= 0)
		return;
	if (s->first >= top->n_order)
		s->first = top->n_order ? top->n_order - 1 : 0;
	rows = calloc(room, sizeof(*rows));
	for (i = s->first; rows && i < top->n_order && n < (size_t)room; i++) {
		top_row_values(top, i, values, peer, sizeof(peer));
		take_row(s, table->cols, table->n_cols, values, &rows[n++]);
	}
	if (n)
		draw_table(s, y, table->cols, table->n_cols, rows, n);
	else if (top->processes)
		put_line(s, y, A_NORMAL, PLAIN, top->match[0] ?
			 "no process matches" : "no processes");
	else
		put_line(s, y, A_NORMAL, PLAIN, top->no_qps ?
			 "queue pairs unknown" : top->match[0] ?
			 "no queue pair matches" : "no queue pairs");
	free(rows);
}

/* Examples: 500ms 1s 2.5s */
static void text_of_interval(uint64_t ns, char *buf, size_t size)
{
	bool below = ns < 1000000000;

	snprintf(buf, size, "%.10g%s", ns / (below ? 1e6 : 1e9),
		 below ? "ms" : "s");
}

static void draw_head(struct screen *s)
{
	const struct top *top = s->top;
	time_t when = top->now / 1000000000;
	char host[80], line[MAX_WIDTH], clock[16] = "", every[32], age[48] = "";
	char rows[40];
	struct tm tm;
	int at;

	if (localtime_r(&when, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	text_of_interval(top->scan_every, every, sizeof(every));
	if (top->scan_every > top->interval)
		snprintf(age, sizeof(age), " (read every %s)", every);
	/* The host name in a capture can be any text, so its length is limited. */
	top_rows_count(top, true, rows, sizeof(rows));
	at = snprintf(line, sizeof(line), "eadm top %s  %.64s  %s%s", clock,
		      machine_text(top->cli->ctx, "host", host, sizeof(host)),
		      rows, age);
	if (top->match[0])
		at += snprintf(line + at, sizeof(line) - at, "  like '%s': %zu",
			       top->match, top->n_order);
	snprintf(line + at, sizeof(line) - at, "  by %s%s%s",
		 top->sort == (top->processes ? (unsigned int)PROC_TX : QP_SQ) ?
			 "rate" : top_rows_table(top)->cols[top->sort].head,
		 top->reverse ? ", reversed" : "",
		 top->frozen ? "  FROZEN" : top->ended ? "  END" : "");
	put_line(s, 0, A_BOLD, PLAIN, line);
}

static void draw_help(struct screen *s)
{
	static const char *const keys[] = {
		"q        quit",
		"h ?      this help",
		"space    freeze or continue",
		"s S      sort by the next or previous column",
		"r        reverse the sort order",
		"c        clear the filter",
		"arrows   move up or down, as do j, k, page up, page down, g, G",
		"+ -      refresh less often or more often",
	};
	static const char *const qps[] = {
		"f /      show only QPs that match: process, PID, peer, state, QPN",
		"",
		"Bars show the send and receive rates at the last refreshes. Rates are per",
		"second. The rates of devices come from their counters, those of QPs from the",
		"indices of the send queue (SQ) and of the receive queue (RQ), in entries; with",
		"some adapters, a send request takes several entries. Indices wrap around, on",
		"most adapters after 65536. If an index advances further between two readings,",
		"the rate is too low. P50 and P99 are latencies of commands.",
		"If there are many QPs, they are read less often: that uses at most half a",
		"percent of a CPU.",
	};
	static const char *const procs[] = {
		"f /      show only processes that match: name, PID, device, library, pod,",
		"         container, or transport",
		"",
		"ON is the transport of a process: rdma, tcp (more than 1 MiB/s), both, or",
		"idle. If the driver has no counters for QPs, a connected QP counts as RDMA.",
		"TXB/s and RXB/s are bytes over RDMA, if all QPs of the process have counters;",
		"SQ/s and RQ/s are entries of its queues; TCPTX/s and TCPRX/s are bytes over",
		"TCP, without loopback. If there are many processes, they are read less often:",
		"that uses at most five percent of a CPU.",
	};
	const char *const *more = s->top->processes ? procs : qps;
	unsigned int i, n = s->top->processes ? ARRAY_SIZE(procs) :
						ARRAY_SIZE(qps);

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		put_line(s, 2 + i, A_NORMAL, PLAIN, keys[i]);
	for (i = 0; i < n; i++)
		put_line(s, 2 + ARRAY_SIZE(keys) + i, A_NORMAL, PLAIN, more[i]);
}

static void draw_foot(struct screen *s)
{
	char line[MAX_WIDTH], every[32];

	text_of_interval(s->top->interval, every, sizeof(every));
	if (s->typing)
		snprintf(line, sizeof(line), "like: %s_", s->typed);
	else if (!top_notes_line(s->top, line, sizeof(line)))
		snprintf(line, sizeof(line),
			 "q quit  h help  space freeze  s sort  r reverse  f filter  +/- every %s",
			 every);
	put_line(s, s->rows - 1, A_REVERSE, PLAIN, line);
}

static void draw(struct screen *s)
{
	int y;

	s->rows = curses.getmaxy(s->win);
	s->cols = curses.getmaxx(s->win);
	curses.werase(s->win);
	if (s->rows < MIN_ROWS || s->cols < MIN_COLS) {
		put_line(s, 0, A_NORMAL, PLAIN, "too small");
	} else {
		draw_head(s);
		if (s->help) {
			draw_help(s);
		} else {
			y = draw_devs(s, 1);
			draw_rows(s, y + 1);
		}
		draw_foot(s);
	}
	curses.wrefresh(s->win);
}

/* ---- keys -------------------------------------------------------------------------- */

static void type_key(struct screen *s, int key)
{
	size_t len = strlen(s->typed);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		strcpy(s->top->match, s->typed);
		s->typing = false;
		s->first = 0;
		top_arrange(s->top);
	} else if (key == 27) {
		s->typing = false;
	} else if (key == KEY_BACKSPACE || key == 127 || key == 8) {
		if (len)
			s->typed[len - 1] = '\0';
	} else if (key < 256 && isprint(key) && len + 1 < sizeof(s->typed)) {
		s->typed[len] = key;
		s->typed[len + 1] = '\0';
	}
}

static void scroll_by(struct screen *s, long rows)
{
	long first = (long)s->first + rows, last = s->top->n_order;

	s->first = first < 0 ? 0 : first >= last ? (last ? last - 1 : 0) :
						   first;
}

static void set_next(struct screen *s)
{
	s->next = clock_after(monotonic_ns(), s->top->interval);
}

static void change_interval(struct screen *s, bool slower)
{
	uint64_t *interval = &s->top->interval;

	if (slower && *interval < 60000000000)
		*interval *= 2;
	else if (!slower && *interval > 250000000)
		*interval /= 2;
	set_next(s);
}

static void change_order(struct screen *s, int step)
{
	struct top *top = s->top;

	if (step)
		top->sort = top_sort_step(top, step);
	else
		top->reverse = !top->reverse;
	s->first = 0;
	top_arrange(top);
}

static void press_scroll(struct screen *s, int key)
{
	int page = s->rows / 2;

	switch (key) {
	case KEY_UP:
	case 'k':
		scroll_by(s, -1);
		break;
	case KEY_DOWN:
	case 'j':
		scroll_by(s, 1);
		break;
	case KEY_PPAGE:
		scroll_by(s, -page);
		break;
	case KEY_NPAGE:
		scroll_by(s, page);
		break;
	case KEY_HOME:
	case 'g':
		s->first = 0;
		break;
	case KEY_END:
	case 'G':
		scroll_by(s, s->top->n_order);
		scroll_by(s, -page);
		break;
	}
}

/* Returns false if the user quits. */
static bool press(struct screen *s, int key)
{
	struct top *top = s->top;

	if (s->typing) {
		type_key(s, key);
		return true;
	}
	switch (key) {
	case 'q':
		if (s->help) {
			s->help = false;
			break;
		}
		return false;
	case 'h':
	case '?':
		s->help = !s->help;
		break;
	case ' ':
		top->frozen = !top->frozen;
		break;
	case 's':
	case 'S':
		change_order(s, key == 's' ? 1 : -1);
		break;
	case 'r':
		change_order(s, 0);
		break;
	case 'f':
	case '/':
		s->typing = true;
		s->typed[0] = '\0';
		break;
	case 'c':
		top->match[0] = '\0';
		top_arrange(top);
		break;
	case '+':
	case '-':
		change_interval(s, key == '+');
		break;
	case 12:			/* ^L */
		curses.clearok(s->win, true);
		break;
	default:
		press_scroll(s, key);
		break;
	}
	return true;
}

/* ---- the loop ---------------------------------------------------------------------- */

static int ms_left(const struct screen *s)
{
	uint64_t now = monotonic_ns();
	uint64_t ms;

	if (s->top->frozen || s->top->ended)
		return 3600000;
	ms = s->next > now ? (s->next - now) / 1000000 : 0;
	return ms > 3600000 ? 3600000 : ms;
}

/* Handles keys until the next refresh is due. Returns false if the user quits. */
static bool serve_keys(struct screen *s)
{
	int key;

	while (!interrupted) {
		curses.wtimeout(s->win, ms_left(s));
		key = curses.wgetch(s->win);
		/* Without its terminal, wgetch() no longer waits. */
		if (key == ERR && !isatty(STDIN_FILENO))
			return false;
		if (key == ERR && !s->top->frozen && !s->top->ended &&
		    !ms_left(s))
			return true;
		if (key != ERR && !press(s, key))
			return false;
		if (key != ERR)
			draw(s);
	}
	return false;
}

static int loop(struct screen *s)
{
	int ret;

	for (;;) {
		set_next(s);
		ret = top_look(s->top);
		if (ret)
			return ret;
		draw(s);
		if (!--s->left)
			return 0;
		if (!serve_keys(s))
			return 0;
		/*
		 * The last snapshot of a capture remains on the screen until the user
		 * quits.
		 */
		if (!top_next(s->top)) {
			draw(s);
			serve_keys(s);
			return 0;
		}
	}
}

static bool open_screen(struct screen *s)
{
	/* Bars use characters beyond ASCII if the terminal supports them. */
	setlocale(LC_CTYPE, "");
	s->term = curses.newterm(NULL, stdout, stdin);
	if (!s->term)
		return false;
	s->win = *curses.stdscr;
	curses.cbreak();
	curses.noecho();
	curses.keypad(s->win, true);
	curses.curs_set(0);
	s->colors = term_colors(s->top->cli) && curses.has_colors();
	if (s->colors) {
		curses.start_color();
		curses.use_default_colors();
		curses.init_pair(RED, COLOR_RED, -1);
		curses.init_pair(YELLOW, COLOR_YELLOW, -1);
	}
	return true;
}

int top_screen(struct top *top, uint64_t count)
{
	struct screen s = { .top = top, .left = count };
	struct cli *cli = top->cli;
	int ret;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return fail(cli, STATUS_USAGE, "screen",
			    "not a terminal (use --batch)");
	if (curses_open())
		return fail(cli, STATUS_UNSUPPORTED, "screen",
			    "libncursesw.so.6 is missing (use --batch)");
	/* Restore the terminal's settings regardless of how the program ends. */
	catch_signal(SIGQUIT);
	if (!open_screen(&s))
		return fail(cli, STATUS_FAILED, "screen",
			    "unknown terminal (set TERM, or use --batch)");
	ret = loop(&s);
	curses.endwin();
	curses.delscreen(s.term);
	return ret < 0 ? top_failed(top, ret) : top_end(top);
}
