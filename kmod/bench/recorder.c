// SPDX-License-Identifier: GPL-2.0-only
/* The driver's own recorder, compiled for this module. */
#include "../erdma/recorder.c"
