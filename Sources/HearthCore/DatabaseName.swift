/// What names of databases look like, and the one in an address of the hosted service.
package enum DatabaseName {
    /// Whether `text` is 1 to 64 of `a-z`, `A-Z`, `0-9`, `-` and `_`, which is what a server takes.
    package static func isName(_ text: String) -> Bool {
        let isGood = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isGood && (1...64).contains(text.utf8.count)
    }

    /// `name` of the hosts `name.firebaseio.com` and `name.REGION.firebasedatabase.app`, in lower case; nil for any other.
    package static func inHost(_ host: String) -> String? {
        let host = host.lowercased()
        guard host.hasSuffix(".firebaseio.com") || host.hasSuffix(".firebasedatabase.app") else {
            return nil
        }
        return host.split(separator: ".").first.map { String($0) }
    }
}
