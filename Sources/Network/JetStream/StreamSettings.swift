import JSONTree

/// The settings of the stream that keeps a log, and what is wrong with those that one has.
struct StreamSettings {
    let name: String
    let subject: String
    let replicaCount: Int

    /// The request that makes the stream.
    ///
    /// Nothing in it is newer than version 2.9: older brokers would leave it out in silence.
    var request: [UInt8] {
        let members: JSONValue = [
            "name": .string(name), "subjects": .list([.string(subject)]), "storage": "file",
            "retention": "limits", "discard": "new", "num_replicas": .number(replicaCount),
            "max_age": .number(0), "max_bytes": .number(-1), "max_msgs": .number(-1),
            "max_msg_size": .number(-1), "deny_delete": .boolean(true),
        ]
        return members.text
    }

    /// What of `config`, as brokers report it, may lose entries or bring in others; nil when nothing does.
    func fault(in config: BrokerReply) -> BrokerFault? {
        func fault(_ setting: String, _ has: BrokerReply, _ needs: String) -> BrokerFault {
            .stream(stream: name, setting: setting, has: has.json, needs: needs)
        }
        let subjects = config["subjects"]
        if subjects.count != 1 || subjects["0"].text != subject {
            return fault("subjects", subjects, "[\"\(subject)\"]")
        }
        for (setting, needs) in [("storage", "file"), ("retention", "limits"), ("discard", "new")]
        where config[setting].text != needs {
            return fault(setting, config[setting], "\"\(needs)\"")
        }
        if config["num_replicas"].integer != Int64(replicaCount) {
            return fault("num_replicas", config["num_replicas"], "\(replicaCount)")
        }
        // No limit is 0 or -1, or the setting is not there.
        for setting in ["max_age", "max_bytes", "max_msgs", "max_msgs_per_subject"]
        where config[setting].integer ?? 0 > 0 {
            return fault(setting, config[setting], setting == "max_age" ? "0" : "-1")
        }
        if let limit = config["max_msg_size"].integer, limit >= 0,
            limit < JetStreamLimits.messageByteCount
        {
            return fault("max_msg_size", config["max_msg_size"], "-1")
        }
        for setting in ["sealed", "deny_purge", "no_ack"] where config[setting].isTrue {
            return fault(setting, config[setting], "false")
        }
        for setting in ["mirror", "sources", "subject_transform"] where !config[setting].isAbsent {
            return fault(setting, config[setting], "null")
        }
        if let mode = config["persist_mode"].text, mode != "default", !mode.isEmpty {
            return fault("persist_mode", config["persist_mode"], "\"default\"")
        }
        return nil
    }
}
