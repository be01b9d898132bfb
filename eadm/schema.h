/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON schema, derived from spec/ and embedded in the binary by the build. */
#ifndef SCHEMA_H
#define SCHEMA_H

extern const char json_schema[];

#endif /* SCHEMA_H */
