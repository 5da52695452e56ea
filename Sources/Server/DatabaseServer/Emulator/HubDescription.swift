import Glibc
import JSONTree

/// What an emulator hub says about itself and the emulators.
///
/// Test libraries ask it where the database is. Source: firebase-tools, `emulator/hub.ts`; read by
/// `@firebase/rules-unit-testing`, `discovery.ts`.
struct HubDescription {
    /// A host that a client can connect to, without brackets.
    let host: String
    let databasePort: Int
    let hubPort: Int
    let accountsPort: Int

    /// The hub of a server that listens on `bind`.
    ///
    /// `requested` is the `Host` header of who asks. On a bind to every address it names the one that reached us.
    init(bind: String, requested: String?, databasePort: Int, hubPort: Int, accountsPort: Int) {
        host = HubDescription.connectable(bind, requested)
        self.databasePort = databasePort
        self.hubPort = hubPort
        self.accountsPort = accountsPort
    }

    /// `GET /`, and the locator file.
    var hub: JSONValue {
        [
            "version": .string(Version.text),
            "origins": .list([.string("http://\(authority(hubPort))")]),
            "pid": .number(getpid()), "host": .string(host), "port": .number(hubPort),
        ]
    }

    var emulators: JSONValue {
        [
            "hub": emulator("hub", port: hubPort),
            "database": emulator("database", port: databasePort),
            "auth": emulator("auth", port: accountsPort),
            "storage": emulator("storage", port: databasePort),
        ]
    }

    private func emulator(_ name: String, port: Int) -> JSONValue {
        let listen: JSONValue = [
            "address": .string(host), "family": host.contains(":") ? "IPv6" : "IPv4",
            "port": .number(port),
        ]
        return [
            "name": .string(name), "host": .string(host), "port": .number(port),
            "pid": .number(getpid()), "listen": .list([listen]),
        ]
    }

    private func authority(_ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// An address that means every interface becomes the one that the request came to, or loopback.
    private static func connectable(_ bind: String, _ requested: String?) -> String {
        let isIPv6 = bind.contains(":")
        guard bind == "0.0.0.0" || isIPv6 && bind.allSatisfy({ $0 == ":" || $0 == "0" }) else {
            return bind
        }
        if let requested, Authority(requested) != nil { return Authority.bareHost(of: requested) }
        return isIPv6 ? "::1" : "127.0.0.1"
    }
}
