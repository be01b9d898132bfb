// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times commands against each other:
 *
 *	measure ROUNDS NAME[=STATUS] COMMAND [NAME[=STATUS] COMMAND]...
 *
 * Each round runs every command once, in turns, so that a disturbance of the
 * machine hits all of them. Prints a line per command: name, minimum and median
 * of the elapsed time, minimum and median of the CPU time (user and system),
 * first and third quartile of either, in microseconds. Output of the
 * commands is thrown away. A command that ends with another status than STATUS
 * (default: 0) ends the run. A command is split at blanks, there is no quoting.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 63

struct subject {
	const char *name, *command;
	int status;
	char *words[MAX_WORDS + 1];
	double *wall, *cpu;
};

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static void once(const struct subject *s, double *wall, double *cpu)
{
	struct timespec start, end;
	struct rusage usage;
	int status, null;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = vfork();
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(s->words[0], s->words);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		perror("measure");
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != s->status) {
		fprintf(stderr, "measure: %s: status %#x\n", s->command, status);
		exit(1);
	}
	*wall = (end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3;
	*cpu = (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void setup(struct subject *s, char **arg, int rounds)
{
	char *copy = strdup(arg[1]), *name = strdup(arg[0]), *status, *word;
	int n = 0;

	if (!copy || !name)
		exit(1);
	status = strchr(name, '=');
	if (status) {
		*status = '\0';
		s->status = atoi(status + 1);
	}
	s->name = name;
	s->command = arg[1];
	s->wall = calloc(rounds, sizeof(double));
	s->cpu = calloc(rounds, sizeof(double));
	if (!s->wall || !s->cpu)
		exit(1);
	for (word = strtok(copy, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
		s->words[n++] = word;
	if (!n || word) {
		fprintf(stderr, "measure: '%s': no command, or too long\n", arg[1]);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, n = (argc - 2) / 2, q = rounds / 4;
	struct subject *s;
	double wall, cpu;

	if (rounds < 1 || n < 1 || argc % 2) {
		fprintf(stderr, "usage: measure ROUNDS NAME[=STATUS] COMMAND [NAME[=STATUS] COMMAND]...\n");
		return 2;
	}
	s = calloc(n, sizeof(*s));
	if (!s)
		return 1;
	for (int i = 0; i < n; i++) {
		setup(&s[i], argv + 2 + 2 * i, rounds);
		once(&s[i], &wall, &cpu);	/* into the page cache */
	}
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < n; i++)
			once(&s[i], &s[i].wall[r], &s[i].cpu[r]);
	for (int i = 0; i < n; i++) {
		qsort(s[i].wall, rounds, sizeof(double), compare);
		qsort(s[i].cpu, rounds, sizeof(double), compare);
		printf("%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", s[i].name,
		       s[i].wall[0], s[i].wall[rounds / 2], s[i].cpu[0],
		       s[i].cpu[rounds / 2], s[i].wall[q], s[i].wall[rounds - 1 - q],
		       s[i].cpu[q], s[i].cpu[rounds - 1 - q]);
	}
	return 0;
}
