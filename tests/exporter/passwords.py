# SPDX-License-Identifier: GPL-2.0-or-later
"""Hashes of passwords as htpasswd makes them; Python has no function for them since 3.13."""

import ctypes
import ctypes.util

SALT = "$2b$04$abcdefghijklmnopqrstuu"

_LIBRARY = ctypes.CDLL(ctypes.util.find_library("crypt") or "libcrypt.so.1")
_LIBRARY.crypt.restype = ctypes.c_char_p


def hashed(password, salt=SALT):
    return _LIBRARY.crypt(password.encode(), salt.encode()).decode()
