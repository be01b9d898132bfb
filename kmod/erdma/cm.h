/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iWARP connection manager: an endpoint (cep) owns one kernel TCP socket, on which it connects and
 * exchanges the MPA frames. The connection is then handed over to the adapter, and the socket only
 * detects the peer's close (hw 10). A listening endpoint may own several sockets.
 */
#ifndef ERDMA_CM_H
#define ERDMA_CM_H

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/iw_cm.h>

#include "erdma_hw.h"

struct eadm_adapter;
struct erdma_dev;
struct erdma_qp;

/* Same order as cep-state in the specification. */
enum erdma_cep_state {
	ERDMA_CEP_LISTENING,
	ERDMA_CEP_CONNECTING,		/* active: TCP handshake */
	ERDMA_CEP_AWAIT_REPLY,		/* active: MPA request sent */
	ERDMA_CEP_AWAIT_REQUEST,	/* passive: accepted by TCP */
	ERDMA_CEP_RECVD_REQUEST,	/* passive: waiting for the consumer */
	ERDMA_CEP_CONNECTED,
	ERDMA_CEP_CLOSED,
	ERDMA_CEP_STATES
};

/* Events for an endpoint's worker, see erdma_cep_note(). */
enum erdma_cep_event {
	ERDMA_CEP_EV_STATE,		/* TCP state changed */
	ERDMA_CEP_EV_DATA,
	ERDMA_CEP_EV_ACCEPT,
	ERDMA_CEP_EV_TIMEOUT,
	ERDMA_CEP_EV_QP_STOPPED,
	ERDMA_CEP_EV_ABORT,		/* the listener was destroyed */
	ERDMA_CEP_EV_ADDRESSES,		/* the interface's addresses changed */
};

/* Callbacks of the socket that were replaced. */
struct erdma_sk_callbacks {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/**
 * struct erdma_cep - a connection endpoint
 * @ref: one for its creator until it is closed, one for the socket callbacks,
 *	one for each queued work
 * @lock: protects all members below up to @rx. Order: a child's lock before its listener's, both
 *	before a QP's state lock
 * @view: held briefly, inside @lock, to change the members other than @state that diagnosis reads:
 *	diagnosis must not wait for @lock, which is held during commands
 * @owner: process that started to listen or to connect; a child has its listener's owner. NULL for
 *	a kernel thread. Set before the endpoint can be found
 * @state: written under @lock, read anywhere
 * @events: bits of enum erdma_cep_event that the worker has not handled yet
 */
struct erdma_cep {
	struct kref ref;
	struct erdma_dev *dev;
	u32 id;				/* number in erdma_cm.ceps */
	struct work_struct work;
	struct delayed_work timer;
	unsigned long events;
	u64 created;			/* ktime_get_ns() */
	u64 state_since;
	struct pid *owner;

	struct mutex lock;		/* see above */
	spinlock_t view;		/* see above */
	enum erdma_cep_state state;
	bool active;
	struct socket *sock;
	struct erdma_sk_callbacks saved;
	struct iw_cm_id *cm_id;
	struct erdma_qp *qp;
	struct sockaddr_in local;
	struct sockaddr_in peer;
	u32 remote_cookie;
	u8 cc;

	struct erdma_cep *listener;	/* of a child until accepted or rejected; referenced */
	struct list_head pending;	/* children not announced to the consumer yet */
	u32 npending;			/* on @pending of a listener */
	u32 backlog;
	struct list_head lsocks;	/* a listener's sockets, see listener.c */
	bool any_addr;			/* listens on all addresses ... */
	u64 net_cookie;			/* ... in this network namespace */

	struct {
		struct erdma_mpa_frame hdr;
		u8 pdata[ERDMA_MPA_MAX_PRIVATE];
		u16 got;		/* bytes of frame and private data */
	} rx;
	u8 tx_pdata[ERDMA_MPA_MAX_PRIVATE];
	u16 tx_len;

	/* For an accept by a process, see hold_back_accept(). */
	struct completion established;
	iw_cm_handler cm_handler;
};

/**
 * struct erdma_cm - connection management of one device
 * @wq: ordered, so that events of a connection are handled in order
 * @ceps: all endpoints, for diagnosis; its lock also protects lookups by id
 * @count: number of endpoints by state
 */
struct erdma_cm {
	struct workqueue_struct *wq;
	struct xarray ceps;
	u32 next_id;
	atomic_t count[ERDMA_CEP_STATES];
	atomic64_t listens, listen_failures, connects, connect_failures,
		   connect_timeouts, accepts, accept_failures, rejects, disconnects;
};

int erdma_cm_init(struct eadm_adapter *ad);
void erdma_cm_exit(struct eadm_adapter *ad);
void erdma_cm_addresses_changed(struct erdma_cm *cm);

/* cep.c */
struct erdma_cep *erdma_cep_new(struct erdma_dev *dev, enum erdma_cep_state state,
				struct pid *owner, work_func_t work);
struct erdma_cep *erdma_cep_find(struct erdma_cm *cm, u64 *id);
void erdma_cep_get(struct erdma_cep *cep);
void erdma_cep_put(struct erdma_cep *cep);
void erdma_cep_note(struct erdma_cep *cep, enum erdma_cep_event event);
void erdma_cep_set_state(struct erdma_cep *cep, enum erdma_cep_state state);
void erdma_cep_start_timer(struct erdma_cep *cep, unsigned long delay);
void erdma_cep_stop_timer(struct erdma_cep *cep);

/* sock.c */
void erdma_sock_hook(struct sock *sk, struct erdma_cep *cep, struct erdma_sk_callbacks *saved,
		     const struct erdma_sk_callbacks *inherited);
void erdma_sock_attach(struct erdma_cep *cep, struct socket *sock,
		       const struct erdma_sk_callbacks *inherited);
void erdma_sock_detach(struct erdma_cep *cep);
void erdma_sock_release(struct socket *sock, const struct erdma_sk_callbacks *saved);
int erdma_sock_names(struct erdma_cep *cep);
bool erdma_sock_allowed_in(const struct erdma_dev *dev, const struct net *net);
int erdma_sock_connect(struct erdma_cep *cep, struct iw_cm_id *id);

/* listener.c */
int erdma_listener_open(struct erdma_cep *cep, const struct iw_cm_id *id);
void erdma_listener_follow(struct erdma_cep *cep);
struct socket *erdma_listener_accept(struct erdma_cep *cep,
				     const struct erdma_sk_callbacks **inherited);
void erdma_listener_close(struct erdma_cep *cep);

/* mpa.c */
int erdma_mpa_send(struct erdma_cep *cep, const char *key, u16 bits, u32 cookie);
int erdma_mpa_quiet(struct erdma_cep *cep);
int erdma_mpa_recv(struct erdma_cep *cep, const char *key);

#endif /* ERDMA_CM_H */
