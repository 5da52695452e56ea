import Foundation
import HearthCore

/// Where a database is: the server and the name of the database.
struct DatabaseAddress: Hashable, Sendable {
    /// Host and port as in a URL: `localhost:9000`, `[::1]:9000`, `db.example.org`.
    var host: String
    var isSecure: Bool
    /// The name of the database.
    var name: String

    /// `http://localhost:9000`: without a path, and without the name.
    var url: String { "\(isSecure ? "https" : "http")://\(host)" }

    init(host: String, isSecure: Bool, name: String) {
        self.host = host
        self.isSecure = isSecure
        self.name = name
    }

    /// The same database behind another server, without TLS.
    func behind(host: String, port: Int) -> DatabaseAddress {
        let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
        let host = isBareIPv6 ? "[\(host)]" : host
        return DatabaseAddress(host: "\(host):\(port)", isSecure: false, name: name)
    }
}

/// An address of a database or of a place in it:
///
///     http(s)://HOST[:PORT][/PATH][?ns=NAME]
///     https://NAME.firebaseio.com[/PATH]
///     https://NAME.REGION.firebasedatabase.app[/PATH]
struct DatabaseURL {
    let host: String
    let isSecure: Bool
    /// The name of the database if the address has one.
    let name: String?
    /// The path, its percent codes resolved.
    let path: String

    init(_ text: String) throws(DatabaseError) {
        let whole = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: whole) else {
            throw .invalidURL(text, why: "it cannot be read")
        }
        switch parts.scheme?.lowercased() {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        default: throw .invalidURL(text, why: "it begins with neither http:// nor https://")
        }
        guard let name = parts.host?.lowercased(), !name.isEmpty else {
            throw .invalidURL(text, why: "it has no host")
        }
        guard parts.user == nil, parts.password == nil else {
            throw .invalidURL("\(name)", why: "it has a user or a password")
        }
        if let port = parts.port {
            guard (1...65_535).contains(port) else {
                throw .invalidURL(text, why: "its port is not in 1...65535")
            }
            host = "\(name):\(port)"
        } else {
            host = name
        }
        path = parts.path
        let asked = parts.queryItems?.first { $0.name == "ns" }?.value
        self.name = asked ?? DatabaseName.inHost(name)
        if let name = self.name, !DatabaseName.isName(name) {
            throw .invalidURL(text, why: "\"\(name)\" is no name of a database")
        }
    }

    /// The database of the address; without a name in it the one of this name.
    func address(defaultName: String) -> DatabaseAddress {
        DatabaseAddress(host: host, isSecure: isSecure, name: name ?? defaultName)
    }
}
