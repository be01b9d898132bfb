/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard descriptors, for the programs. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/*
 * Occupies closed standard descriptors: otherwise, a file or socket that is opened later
 * would get the number of standard error, and messages would be written to it. Reading
 * and writing the descriptors still fails. For the start of main().
 */
void occupy_descriptors(void);

#endif /* DESCRIPTORS_H */
