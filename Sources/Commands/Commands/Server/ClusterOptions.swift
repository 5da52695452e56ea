import ArgumentParser

/// A server as one of the nodes that share a log.
struct ClusterOptions: ParsableArguments {
    @Option(help: .value("name", "The name of this node in its group."))
    var clusterNode: String?

    @Option(
        help: .value(
            "host:port",
            "Brokers of the group's log, the nearest first, with commas or repeated; tls:// encrypts."
        )
    )
    var clusterBrokers: [String] = []

    @Option(
        help: .value(
            "url",
            "Monitoring addresses of the brokers: they are checked before the node begins; may be repeated."
        )
    )
    var clusterMonitors: [String] = []

    @Option(
        help: .value("file", "The user of the brokers and its password, a line each; or a JWT.")
    )
    var clusterBrokerUserFile: String?

    @Option(help: .value("file", "The authorities of the certificates of brokers and nodes, PEM."))
    var clusterCAFile: String?

    @Option(
        help: .value("file", "The secret that the nodes have in common; seals shared keys.")
    )
    var clusterSecretFile: String?

    @Option(help: .value("host:port", "Where clients and other nodes reach this one."))
    var clusterAdvertise: String?
}
