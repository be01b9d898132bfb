# SPDX-License-Identifier: GPL-2.0-or-later
"""ERDMA's knobs with the settings of tests/guest/diagnose/draw, and the verdict expected for each."""

from draw_fault import knob

GET_STATS = 260
CREATE_QP = 1
ALWAYS = {"count": -1}
STAYS = ("traffic",)                    # programs that keep a failed QP
STEPS = ("traffic", "rping")            # programs that stop when one completion is missing

KNOBS = {
    # The command queue.
    "cmd_drop": knob("command-lost cmdq", target=GET_STATS, level="adapter", strike="ask_short"),
    "cmd_db_lost": knob("command-lost cmdq", level="adapter", strike="ask_short"),
    "cmd_delay": knob("command-slow cmdq", settings={"arg": 1500, "count": 1}, target=GET_STATS,
                      level="adapter", strike="ask"),
    "cmd_slow": knob("command-slow cmdq", settings={"arg": 1000000, "count": -1},
                     target=GET_STATS, level="adapter", strike="ask_long"),
    "cmd_error": knob("command-failed cmdq", settings={"arg": 12, "count": 1}, target=CREATE_QP,
                      level="adapter", strike="make"),
    "cmd_duplicate": knob("spurious-completion cmdq", target=GET_STATS, level="adapter",
                          strike="ask"),
    "cmd_arm_lost": knob("missed-interrupt eq", level="adapter", strike="ask_thrice",
                         aid={"cmd_delay": {"target": GET_STATS, "arg": 5, "count": 3}}),
    "answer_garbage": knob("bad-answer counters", False, ALWAYS, target=GET_STATS,
                           level="adapter"),
    # Interrupts and events.
    "irq_lost": knob("missed-interrupt eq, lost-interrupt eq", False, ALWAYS, STEPS, "vector",
                     events=True),
    "irq_spurious": knob("spurious-interrupt eq", False, {}, None, "vector", "adapter", "feed"),
    "eq_db_lost": knob("missed-interrupt eq, lost-interrupt eq", False, ALWAYS, STEPS, "eq",
                       events=True),
    "eq_overflow": knob("eq-overflow eq", programs=STEPS, target="eq", events=True,
                        after="reset"),
    "eqe_duplicate": knob("extra-events cq", programs=STEPS, target="eq", events=True),
    "aeq_qp_fatal": knob("qp-error qp", settings={"arg": 1, "count": 1}, programs=STAYS,
                         target="qp"),
    "aeq_cq_error": knob("cq-overrun cq", programs=STAYS, target="cq"),
    "aeq_unknown": knob("unknown-event eq", settings={"arg": 3, "count": 1}, level="adapter"),
    # Completion queues.
    "cq_arm_lost": knob("missed-event cq", programs=STEPS, target="cq", events=True),
    "cq_overrun": knob("cq-overrun cq", programs=STAYS, target="cq"),
    "cqe_lost": knob("lost-completion cq", programs=STEPS, target="cq"),
    "cqe_duplicate": knob("extra-completion cq", programs=STAYS, target="cq"),
    "cqe_owner": knob("damaged-completion cq", programs=STEPS, target="cq"),
    "cqe_opcode": knob("unknown-opcode cq", settings={"arg": 29, "count": 1}, programs=STAYS,
                       target="cq"),
    "cqe_qpn": knob("stray-completion cq", settings={"arg": 0xfffff, "count": 1}, programs=STEPS,
                    target="cq"),
    # Queue pairs and the wire.
    "sq_db_lost": knob("lost-doorbell qp", settings=ALWAYS, programs=STEPS, target="qp"),
    "rq_db_lost": knob("lost-doorbell qp", settings=ALWAYS, target="qp", strike="run_dry"),
    "qp_stall": knob("sender-stalled qp", settings={"arg": 0, "count": 1}, target="qp"),
    "wr_error": knob("qp-error qp", settings={"arg": 12, "count": 1}, programs=STAYS,
                     target="qp"),
    # A request that takes ten times as long correctly counts as stalled.
    "wr_slow": knob("sender-slow qp, sender-stalled qp", False, {"arg": 800000, "count": -1},
                    target="qp"),
    "dma_fault": knob("qp-error qp", programs=STAYS, target="qp"),
    "rnr": knob("receive-not-taken qp", False, {"arg": 50, "count": -1}, target="qp"),
    "peer_silent": knob("peer-silent qp+", False, ALWAYS, STAYS, "qp"),
    "retransmit": knob("retransmission-storm qp", False,
                       {"probability": 50, "arg": 1, "count": -1}, target="qp"),
    "link_down": knob("port-disabled-drops counters", False, ALWAYS, STAYS),
    "bps_limit": knob("rate-limit-drops counters", False, {"arg": 10, "count": -1}, target="qp"),
    "pps_limit": knob("rate-limit-drops counters", False, {"arg": 10, "count": -1}, target="qp"),
    # The device.
    "counters_wrap": knob("counters-restarted counters", settings={}, level="adapter",
                          strike="between", between={"arg": 1 << 40, "count": 1}),
    "stall": knob("cmdq-stalled cmdq, command-slow cmdq", settings={"arg": 10000, "count": 1},
                  level="adapter", strike="wait_long", after="serve"),
    "dev_hang": knob("qp-forgotten qp, command-lost cmdq", level="adapter", strike="ask_short",
                     after="serve"),
    # A firmware that restarts does not complete the driver's pending command.
    "fw_reset": knob("qp-forgotten qp, command-lost cmdq", level="adapter", strike="forget",
                     after="serve"),
    "init_lost": knob("cmdq-dead cmdq, qp-forgotten qp, command-lost cmdq", settings=ALWAYS,
                      level="adapter", strike="fail", aid={"fw_reset": {"count": 1}},
                      after="serve"),
    # Not with perftest, which chooses its adapter itself, possibly not the prepared one.
    "reset_lost": knob("adapter-halted dev", settings=ALWAYS, programs=STEPS, level="adapter",
                       strike="halt", aid={"init_lost": ALWAYS, "cmd_drop": ALWAYS},
                       before="without_flr", after="replug"),
    "dev_gone": knob("adapter-gone dev", level="adapter", strike="state", after="replug"),
    "false_gone": knob("adapter-gone dev", level="adapter", strike="state", after="replug"),
}

LEFT_OUT = {
    "reset_late": "it prolongs a recovery and shows nothing but the fault that caused the recovery",
}
