# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives the JSON schema of the output of eadm --json from a parsed specification."""

import json


def json_field(field):
    help_ = field.doc + (f" Unit: {field.unit}." if field.unit else "")
    kind = field.json_type()
    if kind in ("name", "names"):
        names = [e[0] for e in field.enum.entries]
        value = {"anyOf": [{"enum": names},
                           {"type": "string", "pattern": "^unknown\\([0-9]+\\)$"}]}
        if kind == "name":
            return {"description": help_, **value}
        return {"description": help_, "type": "array", "items": value}
    if kind == "number":
        node = {"description": help_, "type": "integer"}
        return node if field.type == "s32" else {**node, "minimum": 0}
    node = {"description": help_, "type": "string"}
    if field.type not in ("string", "binary"):
        node["pattern"] = "^0x[0-9a-f]+$"
    elif field.form == "mac":
        node["pattern"] = "^[0-9a-f]{2}(:[0-9a-f]{2})*$"
    elif field.form == "guid":
        node["pattern"] = "^[0-9a-f]{4}(:[0-9a-f]{4}){3}$"
    elif field.kind == "bytes":
        node["pattern"] = "^([0-9a-f]{2})*$"
    return node


def json_row(obj):
    rows = {f.c: json_field(f) for f in obj.every}
    rows["extra"] = {"description": "Attributes unknown to this version of eadm, by number, in hex.",
                     "type": "object",
                     "patternProperties": {"^[0-9]+$": {"type": "string",
                                                        "pattern": "^([0-9a-f]{2})*$"}},
                     "additionalProperties": False}
    counters = [f.c for f in obj.every if f.kind == "counter"]
    if counters:
        rows["rates"] = {"description": "Growth of counters per second (stat --live).",
                         "type": "object",
                         "properties": {name: {"type": "number", "minimum": 0}
                                        for name in counters},
                         "additionalProperties": False}
        rows["growth"] = {"description": "Growth of counters (stat --since).",
                          "type": "object",
                          "properties": {name: {"type": "integer", "minimum": 0}
                                         for name in counters},
                          "additionalProperties": False}
    if obj.extras:
        rows["other"] = {"description": "Counters without a canonical name, by the driver's name.",
                         "type": "object",
                         "additionalProperties": {"type": "integer", "minimum": 0}}
    return {"description": obj.doc, "type": "object", "properties": rows,
            "required": ["dev_name", "dev_index"] if obj.of_device else [obj.key.c],
            "additionalProperties": False}


def json_document(title, rows, more):
    return {"title": title, "type": "object",
            "properties": {
                "schema": {"const": 1}, "command": {"type": "string"}, **more,
                "rows": {"type": "array", "items": {"$ref": f"#/$defs/{rows}"}},
                "notes": {"type": "array", "items": {"$ref": "#/$defs/note"}},
                "inconsistent": {"description": "Objects were created or destroyed during the dump.",
                                 "const": True},
                "error": {"$ref": "#/$defs/error"}},
            "required": ["schema", "rows", *[k for k in more if k == "object"]],
            "additionalProperties": False}


def json_change(spec):
    number, text = {"type": "integer", "minimum": 0}, {"type": "string"}
    value = {"description": "Absent if it was unknown.", "type": ["integer", "string"]}
    return {
        "description": "A difference between two captures or snapshots (diff).", "type": "object",
        "properties": {
            "object": {"enum": [obj.name for obj in spec.objects]}, "dev_name": text,
            "port": {"description": "Port that the object belongs to.", **number},
            "id": {"description": "Key of the object, or its number in RDMA netlink.", **number},
            "name": {"description": "Name of the row, if several rows have the same key.", **text},
            "change": {"enum": ["new", "gone", "changed"]},
            "field": {"description": "Key of the field that changed.", **text},
            "before": value, "after": value,
            "growth": {"description": "Growth of a counter, which may have wrapped.", **number},
            "pid": number, "comm": text},
        "required": ["object", "id", "change"], "additionalProperties": False}


def json_setup_difference(spec):
    text = {"type": "string"}
    value = {"description": "Absent if it is unknown, or if the row does not exist.", **text}
    return {
        "description": "A difference in the setup of two hosts (diff --setup).",
        "type": "object",
        "properties": {
            "kind": {"description": "Aspect of the setup that the field affects.", "enum": ["service", "speed", "version"]},
            "object": {"enum": [obj.name for obj in spec.objects]},
            "dev_name": {"description": "Device; \"a/b\" if the names differ.", **text},
            "name": {"description": "Row of this device or host: port and index, module, "
                                    "setting, or address.", **text},
            "field": {"description": "Key of the field.", **text}, "a": value, "b": value},
        "required": ["kind", "object", "field"], "additionalProperties": False}


def json_top(spec):
    number, text = {"type": "integer", "minimum": 0}, {"type": "string"}
    rate = {"description": "Per second.", "type": "number", "minimum": 0}
    dev = {"dev_name": text, "netdev": text, "state": text, "port_state": text,
           "tx_bytes_per_s": rate, "rx_bytes_per_s": rate, "tx_packets_per_s": rate,
           "rx_packets_per_s": rate, "cmds_per_s": rate, "outstanding": number,
           "cmd_p50": number, "cmd_p99": number, "connects_per_s": rate,
           "failures_per_s": rate, "qps": number}
    qp = {"dev_name": text, "qpn": number, "state": text,
          "sq_per_s": {"description": "Blocks consumed from the send queue, per second.", **rate},
          "rq_per_s": {"description": "Entries consumed from the receive queue, per second.", **rate},
          "queued": number, "pid": number, "comm": text, "peer_addr": text,
          "last_comp_age": number, "age": number}
    process = {"pid": number, "comm": text,
               "on": {"description": "Transport of the process's data; absent while it is unknown.",
                      "enum": ["rdma", "tcp", "both", "idle"]},
               "devices": {"description": "RDMA devices that the process has open.", **text},
               "qps": number, "cqs": number, "mrs": number,
               "tx_bytes_per_s": {"description": "Bytes sent by RDMA; absent unless all QPs of the process are counted.",
                                  **rate},
               "rx_bytes_per_s": {"description": "Bytes received by RDMA; absent unless all QPs of the process are counted.",
                                  **rate},
               "sq_per_s": {"description": "Blocks consumed from the process's send queues, per second.", **rate},
               "rq_per_s": {"description": "Entries consumed from the process's receive queues, per second.", **rate},
               "tcp_tx_bytes_per_s": rate, "tcp_rx_bytes_per_s": rate, "libraries": text,
               "pod": text, "container": text}
    for name, doc, keys, key in (
            ("top-device", "A device (top).", dev, "dev_name"),
            ("top-qp", "A QP (top); the busiest one is first.", qp, "dev_name"),
            ("top-process", "A process (top --processes).", process, "pid")):
        yield name, {"description": doc, "type": "object", "properties": keys,
                     "required": [key], "additionalProperties": False}


def json_histogram(spec):
    number = {"type": "integer", "minimum": 0}
    cmd = next(obj for obj in spec.objects if obj.name == "cmd")
    op = next(json_field(f) for f in cmd.fields if f.name == "op")
    return {
        "description": "Latencies of commands of one kind, in ns (trace hist).",
        "type": "object",
        "properties": {
            "op": op,
            "family": {"description": "Source of records of the probe: verbs, or the family of the "
                                      "driver that issued the commands.", "type": "string"},
            "count": number, "failed": number, "p50": number, "p99": number,
            "max": number,
            "buckets": {"description": "Number of commands with a latency less than below; the last bucket has no upper bound.",
                        "type": "array",
                        "items": {"type": "object",
                                  "properties": {"below": number, "count": number},
                                  "required": ["count"], "additionalProperties": False}}},
        "required": ["op", "count", "p50", "p99", "max", "buckets"],
        "additionalProperties": False}


SEVERITIES = ["notice", "warning", "critical"]


def json_judgements():
    text = {"type": "string"}
    verdict = {
        "description": "A fault found by a rule (diagnose).", "type": "object",
        "properties": {
            "severity": {"enum": SEVERITIES}, "rule": text, "dev_name": text, "object": text,
            "id": {"description": "Key field of the object.", "type": "integer", "minimum": 0},
            "pid": {"type": "integer", "minimum": 1}, "comm": text, "finding": text,
            "evidence": {"type": "array", "items": {
                "type": "object",
                "properties": {"object": text, "id": {"type": "integer", "minimum": 0},
                               "name": {"description": "Key of a field; with the suffix _growth, the growth "
                                                       "of the field between the two snapshots.",
                                        "type": "string"},
                               "value": {"type": ["integer", "string"]}},
                "required": ["object", "id", "name", "value"], "additionalProperties": False}},
            "affects": {
                "description": "Other objects that the cause affects; they have no verdict of their own.",
                "type": "array", "items": {
                    "type": "object",
                    "properties": {"dev_name": text, "object": text,
                                   "id": {"type": "integer", "minimum": 0},
                                   "pid": {"type": "integer", "minimum": 1}, "comm": text,
                                   "finding": text},
                    "required": ["dev_name", "object", "finding"],
                    "additionalProperties": False}},
            "cause": text, "next": text},
        # A process does not belong to a device.
        "required": ["severity", "rule", "object", "finding", "evidence", "cause", "next"],
        "additionalProperties": False}
    rule = {
        "description": "A rule of diagnose and check.", "type": "object",
        "properties": {"rule": text, "severity": {"enum": SEVERITIES}, "object": text,
                       "snapshots": {"enum": [1, 2]},
                       "check": {"description": "Name of the rule in eadm check; absent if it is "
                                                "not about the setup.", "type": "string"},
                       "about": text,
                       "alike": {"description": "Similar conditions that are not faults, and why they are "
                                                "not reported.", "type": "string"}},
        "required": ["rule", "severity", "object", "snapshots", "about", "alike"],
        "additionalProperties": False}
    check = {
        "description": "The result of a check of the configuration, and its remedy (check).",
        "type": "object",
        "properties": {"result": {"enum": ["ok", "note", "unseen", "warn", "fail"]}, "check": text,
                       "dev_name": text, "finding": text, "remedy": text},
        "required": ["result", "check", "finding"], "additionalProperties": False}
    return {"verdict": verdict, "rule": rule, "check": check}


def json_explanation():
    text, number = {"type": "string"}, {"type": "integer", "minimum": 1}
    words = {"type": "array", "items": text}
    found = {
        "description": "A finding of a rule of diagnose or check that confirms this cause.",
        "type": "object",
        "properties": {"rule": text, "severity": {"enum": SEVERITIES}, "dev_name": text,
                       "object": text,
                       "id": {"description": "Key field of the object.", "type": "integer",
                              "minimum": 0},
                       "finding": text},
        "required": ["rule", "severity", "dev_name", "object", "finding"],
        "additionalProperties": False}
    cause = {
        "type": "object",
        "properties": {"cause": {"description": "A name that never changes.", "type": "string"},
                       "text": text,
                       "look": {"description": "Commands that show more.", **words},
                       "rules": {"description": "Rules that recognize the cause.", **words},
                       "found": {"type": "array", "items": found}},
        "required": ["cause", "text", "look", "rules", "found"], "additionalProperties": False}
    return {
        "description": "An error found in a text, or a known error (explain).", "type": "object",
        "properties": {
            "meaning": {"description": "A name that never changes.", "type": "string"},
            "line": {"description": "First line that contains the error.", **number},
            "count": {"description": "Number of lines that contain the error.", **number},
            "text": {"description": "Text of that line; a long line is truncated.", "type": "string"},
            "means": text,
            "causes": {"description": "The causes, with the likeliest one first.", "type": "array", "items": cause}},
        "required": ["meaning", "means", "causes"], "additionalProperties": False}


def json_schema(spec, note):
    """Returns the schema of all documents; the note names its source."""
    text = {"type": "string"}
    defs = {obj.c: json_row(obj) for obj in spec.objects}
    defs["note"] = {
        "description": "Data that could not be read, and the reason.", "type": "object",
        "properties": {"device": text, "what": text, "why": text,
                       "reason": {"description": "Reason why rules of diagnose could not be applied: a "
                                                 "name that never changes.", "type": "string"},
                       "count": {"description": "Number of these rules.", "type": "integer",
                                 "minimum": 1},
                       "of": {"description": "Total number of rules.", "type": "integer",
                              "minimum": 1},
                       "remedy": text},
        "required": ["what", "why"], "additionalProperties": False}
    defs["error"] = {
        "description": "Reason why there are no rows or no further rows; status is the exit status.",
        "type": "object",
        "properties": {"verb": text, "what": text, "why": text, "status": {"type": "integer"}},
        "required": ["what", "why"], "additionalProperties": False}
    defs["version"] = {
        "type": "object", "properties": {"part": text, "version": text},
        "required": ["part", "version"], "additionalProperties": False}
    defs.update(json_judgements())
    interval = {"interval": {"description": "Interval of the rates, in ns.",
                             "type": "integer", "minimum": 0}}
    documents = [json_document(obj.title, obj.c, {"object": {"const": obj.name}, **interval})
                 for obj in spec.objects]
    documents.append(json_document("versions", "version", {}))
    defs["histogram"] = json_histogram(spec)
    documents.append(json_document("histograms of commands", "histogram",
                                   {"object": {"const": "histogram"}}))
    defs["mark"] = {
        "description": "A capture stored under a name (mark --list).", "type": "object",
        "properties": {"name": text, "time": {"type": "integer"}, "size": {"type": "integer"}},
        "required": ["name", "time", "size"], "additionalProperties": False}
    documents.append(json_document("marks", "mark", {"object": {"const": "mark"}}))
    defs["change"] = json_change(spec)
    documents.append(json_document("changes", "change", {"object": {"const": "change"}}))
    defs["setup-difference"] = json_setup_difference(spec)
    documents.append(json_document("differences in setup", "setup-difference",
                                   {"object": {"const": "setup-difference"}}))
    for name, row in json_top(spec):
        defs[name] = row
        documents.append(json_document(name, name, {"object": {"const": name}}))
    documents.append(json_document("verdicts", "verdict",
                                   {"object": {"const": "verdict"}, **interval}))
    documents.append(json_document("checks", "check", {"object": {"const": "check"}}))
    documents.append(json_document("rules", "rule", {"object": {"const": "rule"}}))
    defs["explanation"] = json_explanation()
    documents.append(json_document("explanations", "explanation",
                                   {"object": {"const": "explanation"}}))
    number = {"type": "integer", "minimum": 0}
    defs["test"] = {
        "type": "object",
        "properties": {
            "test": text, "result": {"enum": ["ok", "failed"]},
            "count": number, "size": number, "min": number, "p50": number,
            "p99": number, "max": number,
            "rate": {"type": "number", "minimum": 0}, "dev_name": text,
            "local_addr": text, "peer_addr": text, "local_gid": text, "peer_gid": text,
            "setup": text, "qp_type": text,
            "why": text},
        "required": ["test", "result"], "additionalProperties": False}
    documents.append(json_document("tests", "test",
                                   {"object": {"const": "test"}}))
    defs["mesh"] = {
        "description": "A fault; or, if 'from' is present, a direction between two adapters.",
        "type": "object",
        "properties": {
            "fault": {"enum": ["all", "rail", "host", "adapter", "groups", "among", "pair", "mtu"]},
            "hosts": text, "peers": text, "way": {"enum": ["both", "out", "in"]},
            "directions": number,
            "from": text, "to": text, "result": {"enum": ["ok", "failed"]},
            "rail": number, "peer_rail": number, "cause": text, "min": number, "p50": number,
            "p99": number, "lost_ppm": number, "rate": number, "mtu": number,
            "why": text, "peer_why": text},
        "oneOf": [{"required": ["fault", "way", "cause", "directions"]},
                  {"required": ["from", "to", "result", "rail", "peer_rail"]}],
        "additionalProperties": False}
    documents.append(json_document("pairs of hosts", "mesh", {"object": {"const": "mesh"}}))
    documents.append({
        "title": "error", "type": "object",
        "properties": {"schema": {"const": 1}, "command": text,
                       "error": {"$ref": "#/$defs/error"}},
        "required": ["schema", "error"], "additionalProperties": False})
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema",
              "$comment": f"SPDX-License-Identifier: LGPL-2.1-or-later. {note}",
              "title": "Output of eadm --json",
              "description": "If a key is absent, its value is unknown. Ages and times are in "
                             "nanoseconds. Later versions only add keys. A stream has one document "
                             "per line.",
              "oneOf": documents, "$defs": defs}
    return json.dumps(schema, indent=1) + "\n"
