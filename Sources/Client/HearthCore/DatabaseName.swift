/// The form of database names, and the name in an address of the hosted service.
package enum DatabaseName {
    /// Whether `text` is a valid database name: 1 to 64 of `a-z`, `A-Z`, `0-9`, `-` and `_`.
    package static func isName(_ text: String) -> Bool {
        text.isPlainKey && (1...64).contains(text.utf8.count)
    }

    /// `name` of the hosts `name.firebaseio.com` and `name.REGION.firebasedatabase.app`, in lower case; nil for any
    /// other.
    package static func inHost(_ host: String) -> String? {
        let host = host.lowercased()
        guard host.hasSuffix(".firebaseio.com") || host.hasSuffix(".firebasedatabase.app") else {
            return nil
        }
        return host.split(separator: ".").first.map { String($0) }
    }
}

extension String {
    /// Whether all its characters are of `A-Z a-z 0-9 _ -`.
    package var isPlainKey: Bool {
        utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
