#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks of MPI that send each other data and compare it.

Usage: mpi.py ring ROUNDS | bandwidth

Ends with status 0 if all arrived as it was sent."""

import sys
import time

from mpi4py import MPI

WINDOW = 4


def pattern(length, seed):
    period = bytes((seed * 31 + i * 7) & 0xff for i in range(251))
    return bytearray((period * (length // 251 + 1))[:length])


def ring(comm, rounds):
    """A number goes round, and each rank adds its own plus one."""
    rank, size = comm.Get_rank(), comm.Get_size()
    value = 0
    for _ in range(rounds):
        if rank == 0:
            comm.send(value + 1, dest=1 % size)
            value = comm.recv(source=size - 1)
        else:
            value = comm.recv(source=rank - 1) + rank + 1
            comm.send(value, dest=(rank + 1) % size)
    if rank == 0:
        assert value == rounds * size * (size + 1) // 2, value
        print(f"ring of {size}: {value} after {rounds} rounds")


def transfer(comm, size):
    """A window of messages from 0 to 1, and one of the same kind back."""
    rank, data = comm.Get_rank(), [pattern(size, i) for i in range(WINDOW)]
    room = [bytearray(size) for _ in range(WINDOW)]
    comm.Barrier()
    begin = time.monotonic()
    for first in 0, 1:
        if rank == first:
            requests = [comm.Isend([b, MPI.BYTE], dest=1 - rank, tag=i)
                        for i, b in enumerate(data)]
        else:
            requests = [comm.Irecv([b, MPI.BYTE], source=1 - rank, tag=i)
                        for i, b in enumerate(room)]
        MPI.Request.Waitall(requests)
    assert room == data, f"{size} bytes: wrong data"
    if rank == 0:
        took = time.monotonic() - begin
        print(f"{size} bytes: {2 * WINDOW * size / took / 1e6:.2f} MB/s")


def main():
    comm = MPI.COMM_WORLD
    if sys.argv[1] == "ring":
        ring(comm, int(sys.argv[2]))
        return
    assert comm.Get_size() == 2
    for size in 0, 8, 1000, 8192, 65536, 1 << 20:
        transfer(comm, size)


main()
