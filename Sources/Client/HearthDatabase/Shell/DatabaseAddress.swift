import Foundation
import HearthCore
import SyncCore

extension LinkAddress {
    /// `http://localhost:9000`: without a path, and without the name.
    var url: String { "\(isSecure ? "https" : "http")://\(host)" }

    /// The same database behind another server, without TLS.
    func behind(host: String, port: Int) -> LinkAddress {
        let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
        let host = isBareIPv6 ? "[\(host)]" : host
        return LinkAddress(host: "\(host):\(port)", isSecure: false, namespace: namespace)
    }
}

/// An address of a database or a location in it:
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
        // Error texts never contain what stands before an `@`: it may be a password.
        let shown = text.lastIndex(of: "@").map { "...\(text[$0...])" } ?? text
        let whole = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: whole) else {
            throw .invalidURL(shown, why: "it cannot be read")
        }
        if let why = parts.serverFault { throw .invalidURL(shown, why: why) }
        isSecure = parts.isSecure
        let name = parts.host?.lowercased() ?? ""
        host = parts.port.map { "\(name):\($0)" } ?? name
        path = parts.path
        let asked = parts.queryItems?.first { $0.name == "ns" }?.value
        self.name = asked ?? DatabaseName.inHost(name)
        if let name = self.name, !DatabaseName.isName(name) {
            throw .invalidURL(shown, why: "\"\(name)\" is no name of a database")
        }
    }

    /// The database of the address; without a name in it the one of this name.
    func address(defaultName: String) -> LinkAddress {
        LinkAddress(host: host, isSecure: isSecure, namespace: name ?? defaultName)
    }
}
