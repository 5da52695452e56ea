import Files

/// Why brokers cannot carry the log, or not now. Says so without secrets.
package enum BrokerFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// No broker of the list took the connection.
    case unreachable(brokers: String, detail: String)
    /// A broker did not accept the credentials, or wants some.
    case credentials(brokers: String)
    /// The file of credentials or of authorities cannot be used.
    case file(detail: String)
    /// The broker's certificate is not trusted, or not for its host.
    case untrusted(brokers: String, detail: String)
    /// TLS is set, and the broker speaks none.
    case noTLS(brokers: String)
    /// The connection was made and is lost.
    case lost(brokers: String, detail: String)
    /// No broker keeps streams, or not for this account.
    case noJetStream(place: String)
    /// There was no answer: the brokers have no leader now, or too few of them run.
    case noAnswer(operation: String)
    /// No room is left for entries.
    case full(place: String, detail: String)
    /// The stream is gone.
    case noStream(stream: String)
    /// The stream has a setting with which the log may lose entries.
    case stream(stream: String, setting: String, has: String, needs: String)
    /// The broker takes no messages of the size of entries.
    case smallMessages(place: String, byteLimit: Int)
    /// The account may not do something.
    case notPermitted(detail: String)
    /// The brokers answered with another error.
    case refused(operation: String, code: Int, detail: String)
    /// A monitoring address does not answer.
    case noMonitor(address: String, detail: String)
    /// What answers there is no broker.
    case notABroker(address: String, detail: String)
    /// The version of a broker has known faults with logs like this one.
    case version(broker: String, version: String)
    /// A broker answers before entries are on its disk.
    case notSynced(broker: String)
    /// There are brokers that no monitoring address stands for.
    case unmonitored(monitoredCount: Int, brokerCount: Int)

    /// Whether it may well pass by itself.
    package var isPassing: Bool {
        switch self {
        case .unreachable, .lost, .noAnswer, .noMonitor: true
        // Brokers that have just started say so before they have found each other.
        case .noJetStream: true
        case .credentials, .file, .untrusted, .noTLS, .full, .noStream, .stream, .smallMessages,
            .notPermitted, .refused, .notABroker, .version, .notSynced, .unmonitored:
            false
        }
    }

    /// What happened, where, and what to do.
    package var description: String { TerminalText.shown("\(event); \(advice)") }

    private var event: String {
        switch self {
        case .unreachable(let brokers, let detail): "no broker of \(brokers) answers: \(detail)"
        case .credentials(let brokers): "a broker of \(brokers) does not accept the credentials"
        case .file(let detail): "a file for the connection to brokers cannot be used: \(detail)"
        case .untrusted(let brokers, let detail):
            "the certificate of a broker of \(brokers) is not trusted: \(detail)"
        case .noTLS(let brokers): "a broker of \(brokers) does not speak TLS"
        case .lost(let brokers, let detail):
            "the connection to a broker of \(brokers) was lost: \(detail)"
        case .noJetStream(let place): "\(place) has no JetStream"
        case .noAnswer(let operation): "the brokers did not answer: \(operation)"
        case .full(let place, let detail): "\(place) has no room for entries: \(detail)"
        case .noStream(let stream): "the brokers have no stream \(stream) any more"
        case .stream(let stream, let setting, let has, let needs):
            "the stream \(stream) has \(setting) \(has) and needs \(needs)"
        case .smallMessages(let place, let byteLimit):
            "\(place) takes messages of \(byteLimit) bytes, and entries need \(JetStreamLimits.messageByteCount)"
        case .notPermitted(let detail): "the brokers do not permit something: \(detail)"
        case .refused(let operation, let code, let detail):
            "the brokers refused: \(operation): \(detail) (\(code))"
        case .noMonitor(let address, let detail): "the monitoring address \(address): \(detail)"
        case .notABroker(let address, let detail):
            "the monitoring address \(address) is not that of a broker: \(detail)"
        case .version(let broker, let version): "the broker \(broker) has version \(version)"
        case .notSynced(let broker):
            "the broker \(broker) answers before entries are on its disk"
        case .unmonitored(let monitoredCount, let brokerCount):
            "monitoring addresses stand for \(monitoredCount) of \(brokerCount) brokers"
        }
    }

    private var advice: String {
        switch self {
        case .unreachable, .lost: "check that the brokers run, their addresses and the network"
        case .credentials: "check user and password, token or credentials file"
        case .file: "check its path, content and permissions"
        case .untrusted:
            "name the file of the authority that signed it, and use a host that it names"
        case .noTLS: "set up TLS there, or leave it out here"
        case .noJetStream: "add 'jetstream { }' to its configuration, and allow it for this account"
        case .noAnswer: "check that most brokers run and see each other; it is tried again"
        case .full: "raise 'max_file_store' or make room on its disk"
        case .noStream:
            "restore the brokers' files, or found the group anew from the node that knows most"
        case .stream(let stream, let setting, _, let needs):
            "set it with 'nats stream edit \(stream)' or in its JSON: \"\(setting)\": \(needs)"
        case .smallMessages: "raise 'max_payload' in its configuration"
        case .notPermitted:
            "allow this account the stream's subject, the beats, '$JS.API.>' and '_INBOX.>'"
        case .refused: "look at the brokers' logs"
        case .noMonitor: "set 'http' in the broker's configuration, and check the address"
        case .notABroker: "name the address that 'http' in the broker's configuration has"
        case .version: "install 2.12.8 or a later 2.12, or 2.14.0 or later"
        case .notSynced: "set 'sync_interval: always' inside 'jetstream { }', and restart it"
        case .unmonitored: "name the monitoring address of each broker"
        }
    }
}
