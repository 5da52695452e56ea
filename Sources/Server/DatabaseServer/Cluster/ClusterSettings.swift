import JetStream

/// The settings of a node that shares its log with others.
struct ClusterSettings: Equatable, Sendable {
    /// The name of this node among those of the group.
    var node: String
    /// Brokers of the log: `nats://HOST:PORT`, the one beside the node first.
    var brokers: [String]
    /// Where clients reach this node: `http://HOST:PORT`.
    var address: String
    /// The addresses of the brokers' monitoring, `http://HOST:PORT`; by them a start checks how brokers keep the log.
    var monitors: [String] = []
    /// A file with the two lines `user` and `password` of the brokers' account, or with a JWT and its seed as `nsc` writes
    /// them; nil when brokers ask for none.
    var brokerUserFile: String?
    /// Whether connections to brokers are encrypted.
    var usesBrokerTLS = false
    /// The authorities that certificates of brokers and nodes are checked against, PEM; nil: the system's.
    var authorityFile: String?
    /// A file with the secret that the nodes have in common; nil when their keys are copied by hand.
    var secretFile: String?

    /// The number of this node in the log: FNV-1a of its name.
    var nodeNumber: UInt64 {
        node.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    /// Brokers that keep a copy of the log.
    var replicaCount: Int { brokers.count >= 3 ? 3 : 1 }
}

extension Configuration {
    /// Reads which node of which group this server is; without `--cluster-node` it is alone.
    mutating func readCluster(_ reader: inout SettingReader) {
        let written = reader.list(.clusterBrokers, "Write HOST:PORT,HOST:PORT,HOST:PORT.") {
            $0.split(separator: ",").map(String.init)
        }.flatMap(\.self)
        let brokers = written.map { broker in
            let address = broker.hasPrefix("tls://") ? broker.dropFirst(6) : broker[...]
            return address.hasPrefix("nats://") ? String(address) : "nats://\(address)"
        }
        let encryptedCount = written.count { $0.hasPrefix("tls://") }
        let authorityFile = reader.text(.clusterCAFile)
        let monitors = reader.list(
            .clusterMonitors,
            "Write http://HOST:PORT, such as http://10.0.0.1:8222."
        ) { text -> [String]? in
            let addresses = text.split(separator: ",").map(String.init)
            return addresses.allSatisfy { WebOrigin($0)?.isHTTP == true } ? addresses : nil
        }.flatMap(\.self)
        let userFile = reader.text(.clusterBrokerUserFile)
        let secretFile = reader.text(.clusterSecretFile)
        let address = reader.text(.clusterAdvertise).map { text in
            text.contains("://") ? text : "\(tls == nil ? "http" : "https")://\(text)"
        }
        guard let node = reader.text(.clusterNode) else {
            for setting in [
                Setting.clusterBrokers, .clusterAdvertise, .clusterMonitors, .clusterBrokerUserFile,
                .clusterCAFile, .clusterSecretFile,
            ] where reader.isSet(setting) {
                let advice = "Name this node with --cluster-node, or leave it out."
                reader.fault(setting, "means nothing without --cluster-node", advice)
            }
            return
        }
        do throws(JetStreamSettingError) {
            _ = try JetStreamConfiguration(brokers: brokers, node: node)
        } catch {
            let advice =
                "For example --cluster-node n1 --cluster-brokers 10.0.0.1:4222,10.0.0.2:4222."
            return reader.fault(.clusterNode, "cannot be used: \(error)", advice)
        }
        guard let address else {
            let advice =
                "Say with --cluster-advertise HOST:PORT where clients and other nodes reach this one."
            return reader.fault(.clusterNode, "has no address", advice)
        }
        guard WebOrigin(address)?.isHTTP == true, address.utf8.count <= 255 else {
            let advice = "Write HOST:PORT, such as db1.example.com:9000."
            return reader.fault(.clusterAdvertise, "is no address of this node", advice)
        }
        checkCluster(&reader)
        if encryptedCount > 0, encryptedCount < written.count {
            let advice = "Write tls:// before each broker, or before none."
            reader.fault(.clusterBrokers, "encrypts the connections to some brokers only", advice)
        }
        if monitors.isEmpty {
            warnings.append(
                "nothing checks that the brokers keep what they acknowledge; name their monitoring addresses with "
                    + "--cluster-monitors"
            )
        }
        if secretFile == nil {
            warnings.append(
                "this node's keys are its own: name a secret of the group with --cluster-secret-file, or a token that one "
                    + "node signs is refused by the next owner"
            )
        }
        cluster = ClusterSettings(
            node: node,
            brokers: brokers,
            address: address,
            monitors: monitors,
            brokerUserFile: userFile,
            usesBrokerTLS: encryptedCount > 0,
            authorityFile: authorityFile,
            secretFile: secretFile
        )
    }

    /// What a node of a group cannot do.
    private func checkCluster(_ reader: inout SettingReader) {
        if storage == .memory {
            let advice = "Leave --memory out: each node keeps a copy of the log on its disk."
            reader.fault(.clusterNode, "needs a data folder", advice)
        }
        if reader.isSet(.durability) {
            let advice =
                "Leave --durability out: the brokers' settings decide when a write is safe."
            reader.fault(.clusterNode, "has no durability of its own", advice)
        }
    }
}
