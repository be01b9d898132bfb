// SPDX-License-Identifier: GPL-2.0-only
/* MPA frames of connection set-up (hw 10.3). */

#include <linux/bitfield.h>
#include <linux/net.h>

#include "cm.h"
#include "erdma.h"

/**
 * erdma_mpa_send() - send a frame with the endpoint's private data
 * @cep: the endpoint
 * @key: type of the frame, ERDMA_MPA_KEY_*
 * @bits: flags
 * @cookie: cookie of the sender's QP
 *
 * Context: process, @cep->lock held.
 * Return: 0 or -errno.
 */
int erdma_mpa_send(struct erdma_cep *cep, const char *key, u16 bits, u32 cookie)
{
	struct erdma_mpa_frame hdr = {
		.bits = cpu_to_be16(bits | ERDMA_MPA_REVISION),
		.pd_len = cpu_to_be16(cep->tx_len),
		.cookie = cpu_to_be32(cookie),
		.cc = cpu_to_be32(FIELD_PREP(ERDMA_MPA_EXT_CC, cep->cc)),
	};
	struct kvec vec[2] = {
		{ .iov_base = &hdr, .iov_len = sizeof(hdr) },
		{ .iov_base = cep->tx_pdata, .iov_len = cep->tx_len },
	};
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	size_t len = sizeof(hdr) + cep->tx_len;
	int ret;

	lockdep_assert_held(&cep->lock);
	memcpy(hdr.key, key, sizeof(hdr.key));
	ret = kernel_sendmsg(cep->sock, &msg, vec, cep->tx_len ? 2 : 1, len);
	if (ret < 0)
		return ret;
	/* An empty send buffer accepts a whole frame unless the socket is broken. */
	return ret == len ? 0 : -ECONNABORTED;
}

static int sock_recv(struct socket *sock, void *buf, size_t len)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };

	return kernel_recvmsg(sock, &msg, &vec, 1, len, MSG_DONTWAIT);
}

/**
 * erdma_mpa_quiet() - check that the peer has sent no further data
 * @cep: the endpoint, whose frame is complete
 *
 * The peer must not send data before both ends are in RTS: the adapter would start in the middle of
 * the stream (hw 10.3).
 *
 * Context: process, @cep->lock held.
 * Return: 0, or -EPROTO if data has arrived.
 */
int erdma_mpa_quiet(struct erdma_cep *cep)
{
	u8 extra;

	lockdep_assert_held(&cep->lock);
	return sock_recv(cep->sock, &extra, sizeof(extra)) > 0 ? -EPROTO : 0;
}

/**
 * erdma_mpa_recv() - continue reading the peer's frame
 * @cep: the endpoint
 * @key: expected type of the frame, ERDMA_MPA_KEY_*
 *
 * Context: process, @cep->lock held.
 * Return: 0 if the frame is complete; -EAGAIN if it is incomplete; -EPROTO if it is not a frame of
 * this protocol; -ECONNRESET or a different error of the socket.
 */
int erdma_mpa_recv(struct erdma_cep *cep, const char *key)
{
	u8 *buf = (u8 *)&cep->rx.hdr;
	size_t want = sizeof(cep->rx.hdr);
	int ret;

	static_assert(offsetof(typeof(cep->rx), pdata) == sizeof(struct erdma_mpa_frame));
	lockdep_assert_held(&cep->lock);
	for (;;) {
		if (cep->rx.got >= sizeof(cep->rx.hdr)) {
			u16 len = be16_to_cpu(cep->rx.hdr.pd_len);
			u16 bits = be16_to_cpu(cep->rx.hdr.bits);

			if (memcmp(cep->rx.hdr.key, key, ERDMA_MPA_KEY_LEN) ||
			    (bits & ERDMA_MPA_REV) != ERDMA_MPA_REVISION ||
			    len > ERDMA_MPA_MAX_PRIVATE)
				return -EPROTO;
			want = sizeof(cep->rx.hdr) + len;
		}
		if (cep->rx.got == want && want >= sizeof(cep->rx.hdr))
			break;
		ret = sock_recv(cep->sock, buf + cep->rx.got, want - cep->rx.got);
		if (ret == 0)
			return -ECONNRESET;
		if (ret < 0)
			return ret;
		cep->rx.got += ret;
	}
	return erdma_mpa_quiet(cep);
}
