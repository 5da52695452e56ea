import Glibc
import JSONTree

/// What an emulator hub tells about itself and the emulators, as texts.
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
    /// `requested` is the `Host` header of who asks. On a bind to every address it names the one
    /// that reached us.
    init(bind: String, requested: String?, databasePort: Int, hubPort: Int, accountsPort: Int) {
        host = HubDescription.connectable(bind, requested)
        self.databasePort = databasePort
        self.hubPort = hubPort
        self.accountsPort = accountsPort
    }

    /// `GET /`, and the locator file.
    var hub: [UInt8] {
        var text = Array("{\"version\":".utf8)
        appendJSONString(Version.text, to: &text)
        text += Array(",\"origins\":[".utf8)
        appendJSONString("http://\(authority(hubPort))", to: &text)
        text += Array("],\"pid\":\(getpid()),\"host\":".utf8)
        appendJSONString(host, to: &text)
        text += Array(",\"port\":\(hubPort)}".utf8)
        return text
    }

    /// `GET /emulators`.
    var emulators: [UInt8] {
        var text = Array("{\"hub\":".utf8)
        appendEmulator("hub", port: hubPort, to: &text)
        text += Array(",\"database\":".utf8)
        appendEmulator("database", port: databasePort, to: &text)
        text += Array(",\"auth\":".utf8)
        appendEmulator("auth", port: accountsPort, to: &text)
        text.append(UInt8(ascii: "}"))
        return text
    }

    private func appendEmulator(_ name: String, port: Int, to text: inout [UInt8]) {
        text += Array("{\"name\":\"\(name)\",\"host\":".utf8)
        appendJSONString(host, to: &text)
        text += Array(",\"port\":\(port),\"pid\":\(getpid()),\"listen\":[{\"address\":".utf8)
        appendJSONString(host, to: &text)
        let family = host.contains(":") ? "IPv6" : "IPv4"
        text += Array(",\"family\":\"\(family)\",\"port\":\(port)}]}".utf8)
    }

    private func authority(_ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// An address that nobody can connect to becomes the one that was asked, or loopback.
    private static func connectable(_ bind: String, _ requested: String?) -> String {
        let isIPv6 = bind.contains(":")
        guard bind == "0.0.0.0" || isIPv6 && bind.allSatisfy({ $0 == ":" || $0 == "0" }) else {
            return bind
        }
        if let requested, Authority(requested) != nil {
            // An authority is HOST, HOST:PORT or [HOST]:PORT.
            if requested.first == "[" {
                return String(requested.dropFirst().prefix { $0 != "]" })
            }
            return String(requested.prefix { $0 != ":" })
        }
        return isIPv6 ? "::1" : "127.0.0.1"
    }
}
