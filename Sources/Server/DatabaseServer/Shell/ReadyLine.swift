import Glibc
import Logging

/// The one line on standard output that says where the server is, for programs that started it.
///
///     hearth ready http://127.0.0.1:9000 mode=dev data=/abs/path durability=always
struct ReadyLine {
    let text: String
    /// What the log says of it.
    let metadata: Logger.Metadata

    /// `port` is the real one, when the configured one is 0; `networkHosts` are this machine's addresses in its networks.
    init(
        _ configuration: Configuration,
        port: Int,
        hubPort: Int? = nil,
        accountsPort: Int? = nil,
        consolePort: Int? = nil,
        networkHosts: [String] = []
    ) {
        let scheme = configuration.tls == nil ? "http" : "https"
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let address = "\(scheme)://\(host):\(port)"
        let mode = configuration.mode == .development ? "dev" : "production"
        var (data, durability) = ("none", "none")
        if case .folder(let path) = configuration.storage {
            data = ReadyLine.absolute(path)
            durability = configuration.durability.description
        }
        metadata = [
            "address": "\(address)", "mode": "\(mode)", "data": "\(data)",
            "durability": "\(durability)",
        ]
        var text = "hearth ready \(address) mode=\(mode) data=\(data) durability=\(durability)"
        if let hubPort { text += " hub=http://\(host):\(hubPort)" }
        if let accountsPort { text += " accounts=\(scheme)://\(host):\(accountsPort)" }
        if let consolePort { text += " console=\(scheme)://\(host):\(consolePort)/.console/" }
        if configuration.servesSamples {
            // Where a phone finds them when the server listens on every address.
            let isEverywhere = configuration.host == "0.0.0.0" || configuration.host == "::"
            let pagesHost = isEverywhere ? networkHosts.first ?? host : host
            text += " samples=\(scheme)://\(pagesHost):\(port)/.samples/"
        }
        self.text = text
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
