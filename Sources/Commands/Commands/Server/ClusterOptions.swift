import ArgumentParser

/// A server as one of the nodes that share a log.
struct ClusterOptions: ParsableArguments {
    @Option(help: .value("name", "The name of this node in its group."))
    var clusterNode: String?

    @Option(
        help: .value(
            "host:port",
            "The brokers that carry the group's log, the nearest first; with commas or repeated."
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

    @Option(help: .value("file", "Two lines: the user of the brokers, and its password."))
    var clusterBrokerUserFile: String?

    @Option(help: .value("host:port", "Where clients and other nodes reach this one."))
    var clusterAdvertise: String?
}
