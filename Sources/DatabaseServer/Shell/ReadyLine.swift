import Glibc
import Logging

/// The one line on standard output that says where the server is, for programs that started it.
///
///     hearth ready http://127.0.0.1:9000 mode=dev data=/abs/path durability=always
struct ReadyLine {
    private let address: String
    private let mode: String
    private let data: String
    private let durability: String
    /// The address of a hub with a port of its own.
    private let hub: String?
    /// The address of accounts with a port of their own.
    private let accounts: String?
    /// The address of the sample pages, where a phone finds them when the server listens on every address.
    private let samples: String?

    /// `port` is the real one, when the configured one is 0; `networkHosts` are this machine's addresses in its networks.
    init(
        _ configuration: Configuration,
        port: Int,
        hubPort: Int? = nil,
        accountsPort: Int? = nil,
        networkHosts: [String] = []
    ) {
        let scheme = configuration.tls == nil ? "http" : "https"
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        address = "\(scheme)://\(host):\(port)"
        accounts = accountsPort.map { "\(scheme)://\(host):\($0)" }
        hub = hubPort.map { "http://\(host):\($0)" }
        let isEverywhere = configuration.host == "0.0.0.0" || configuration.host == "::"
        let pagesHost = isEverywhere ? networkHosts.first ?? host : host
        samples = configuration.servesSamples ? "\(scheme)://\(pagesHost):\(port)/.samples/" : nil
        mode = configuration.mode == .development ? "dev" : "production"
        switch configuration.storage {
        case .memory:
            data = "none"
            durability = "none"
        case .folder(let path):
            data = ReadyLine.absolute(path)
            durability = configuration.durability.description
        }
    }

    var text: String {
        "hearth ready \(address) mode=\(mode) data=\(data) durability=\(durability)"
            + (hub.map { " hub=\($0)" } ?? "") + (accounts.map { " accounts=\($0)" } ?? "")
            + (samples.map { " samples=\($0)" } ?? "")
    }

    var metadata: Logger.Metadata {
        [
            "address": "\(address)", "mode": "\(mode)", "data": "\(data)",
            "durability": "\(durability)",
        ]
    }

    func print() {
        // All streams: a program that started this one waits for the line on a pipe.
        Swift.print(text)
        fflush(nil)
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
