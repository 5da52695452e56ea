package import Files
import HTTPClient
import JetStream

/// What `hearth cluster check` finds out about the brokers that a configuration names.
package func checkCluster(_ configuration: Configuration) -> CommandOutcome {
    guard let settings = configuration.cluster else {
        return .failed("this server is alone: it has no --cluster-node")
    }
    #if Cluster
        var lines: [String] = []
        var faults: [String] = []
        if settings.monitors.isEmpty {
            faults.append("--cluster-monitors is not set: nothing says whether brokers sync")
        } else {
            let checked = ClusterStart.look(at: settings)
            lines += checked.facts.map { facts in
                let sync = facts.isSynced ? "syncs before it answers" : "answers before it syncs"
                return "\(facts.name)  \(facts.version)  \(sync)"
            }
            faults += checked.faults.map(\.description)
        }
        for broker in settings.brokers {
            do {
                let brokers = try ClusterStart.brokers(settings, [broker])
                let bounds = try BrokerLook.bounds(brokers)
                let held =
                    switch bounds {
                    case nil: "no log yet"
                    case (let first, let last)? where first > last: "a log without entries"
                    case (let first, let last)?: "a log with entries \(first) to \(last)"
                    }
                lines.append("\(broker)  lets this node in, and holds \(held)")
            } catch {
                faults.append("\(error)")
            }
        }
        let text = (lines + faults.map { "wrong: \($0)" }).joined(separator: "\n")
        return faults.isEmpty ? .done(text) : .failed(text)
    #else
        return .failed("\(ClusterStartError.notBuilt)")
    #endif
}
