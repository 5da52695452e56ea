/// Which brokers carry a log, and how a node speaks to them.
package struct JetStreamConfiguration: Sendable {
    /// `nats://127.0.0.1:4222`: the broker beside the node first, as the first one that answers is used.
    package let brokers: [String]
    /// Names the stream `LOG_<group>` and the subject `log.<group>`.
    package let group: String
    /// The name under which this node sends its beats, `beat.<group>.<node>`.
    package let node: String
    /// How the node proves to brokers who it is.
    package var credentials = BrokerCredentials.none
    /// How connections are encrypted; nil for none.
    package var tls: BrokerTLS?
    /// Brokers that keep a copy of the log: 3, or 1 for a single broker.
    package var replicaCount = 3

    var stream: String { "LOG_\(group)" }
    var subject: String { "log.\(group)" }
    var beatSubject: String { "beat.\(group).\(node)" }
    /// `nats://10.0.0.1:4222, nats://10.0.0.2:4222`, for errors.
    var place: String { brokers.joined(separator: ", ") }

    /// Names the brokers, as `nats://HOST:PORT` without a user, the group and this node.
    ///
    /// - Throws: `JetStreamSettingError` for an address or a name that cannot be used.
    package init(
        brokers: [String],
        group: String = "main",
        node: String
    ) throws(JetStreamSettingError) {
        guard !brokers.isEmpty else { throw .noBrokers }
        for broker in brokers {
            guard Self.isAddress(broker) else { throw .broker(Self.withoutUser(broker)) }
        }
        guard Self.isName(group) else { throw .group(group) }
        guard Self.isName(node) else { throw .node(node) }
        self.brokers = brokers
        self.group = group
        self.node = node
    }

    private static let scheme = "nats://"

    private static func isAddress(_ text: String) -> Bool {
        guard text.hasPrefix(scheme) else { return false }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        let end = text.dropFirst(scheme.count)
        guard isPlain, !end.contains(where: "@/,?#".contains) else { return false }
        guard let colon = end.lastIndex(of: ":"), !end.hasSuffix("]") else { return !end.isEmpty }
        let port = UInt16(end[end.index(after: colon)...]) ?? 0
        return colon > end.startIndex && port > 0
    }

    /// A refused address as an error may show it: what stands before an `@` may be a secret.
    private static func withoutUser(_ text: String) -> String {
        guard let end = text.lastIndex(of: "@") else { return text }
        return "...\(text[end...])"
    }

    /// Whether a text can be one part of a subject.
    private static func isName(_ text: String) -> Bool {
        (1...JetStreamLimits.nameByteCount).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// What a node signs in with at a broker. Secrets are never written into logs or errors.
package enum BrokerCredentials: Sendable, CustomStringConvertible {
    case none
    case user(String, password: String)
    case token(String)
    /// A file with a JWT and the seed of its key, as `nsc generate creds` writes it.
    case file(path: String)

    package var description: String {
        switch self {
        case .none: "no credentials"
        case .user(let name, _): "user \(name)"
        case .token: "a token"
        case .file(let path): "the credentials file \(path)"
        }
    }
}

/// How connections to brokers are encrypted. Certificates are always checked, and that they are for the host.
package struct BrokerTLS: Sendable {
    /// PEM file of the authorities that brokers' certificates are checked against; nil: the system's.
    package var authorityFile: String?

    package init(authorityFile: String? = nil) {
        self.authorityFile = authorityFile
    }
}

/// Why brokers cannot be used as the settings say.
package enum JetStreamSettingError: Error, Equatable, Sendable, CustomStringConvertible {
    case noBrokers
    case broker(String)
    case group(String)
    case node(String)

    package var description: String {
        switch self {
        case .noBrokers: "name at least one broker, as nats://10.0.0.1:4222"
        case .broker(let address):
            "the broker '\(address)' must be nats://HOST:PORT, without a user; "
                + "credentials and TLS have settings of their own"
        case .group(let name): "the group '\(name)' must have \(Self.names)"
        case .node(let name): "the node '\(name)' must have \(Self.names)"
        }
    }

    private static let names =
        "1 to \(JetStreamLimits.nameByteCount) ASCII letters, digits, - and _"
}

/// Sizes, counts and times of the log over JetStream.
package enum JetStreamLimits {
    /// Bytes of one entry; ours, half of what brokers take by default.
    package static let entryByteCount = 512 << 10
    /// Bytes of the name of a group or node; ours.
    package static let nameByteCount = 63
    /// Bytes that a broker must take as one message: an entry and its header.
    static let messageByteCount = entryByteCount + 4_096
    /// Appends and beats that wait for the socket. Further ones are not sent.
    static let waitingCount = 256
    /// Bytes of entries that wait for the receiver. Flow control of the broker leaves fewer.
    static let arrivedByteCount = 64 << 20
    /// Time for a connection to one broker.
    static let connectMilliseconds: Int64 = 2_000
    /// Time after which a socket that takes no bytes counts as lost.
    static let writeMilliseconds: Int64 = 2_000
    /// Time between pings to the broker; two without an answer end the connection.
    static let pingMilliseconds: Int64 = 2_000
    /// Time for one request to the brokers; without a leader they do not answer.
    static let requestMilliseconds: Int64 = 2_000
    /// Time before a failed connection or request is tried again.
    static let retryMilliseconds = 200
    /// Time between heartbeats of the tail's consumer. After two that are missed the tail begins anew.
    static let heartbeatNanoseconds: Int64 = 500_000_000
}
