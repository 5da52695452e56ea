import Glibc

/// Who changes rules, as their history shows it.
package enum ChangeAuthor {
    /// `user@host` of the process; nil where there is no user's name.
    package static func ofProcess(_ environment: [String: String]) -> String? {
        let names = ["USER", "LOGNAME"].compactMap { environment[$0] }
        guard let user = names.first(where: { !$0.isEmpty }) else { return nil }
        // A host has at most 64 characters on Linux.
        var buffer = [CChar](repeating: 0, count: 256)
        let isNamed = gethostname(&buffer, buffer.count - 1) == 0
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let host = isNamed ? String(decoding: bytes, as: UTF8.self) : ""
        return named(user: user, host: host)
    }

    /// A name that servers take: what they would refuse in it is replaced.
    static func named(user: String, host: String) -> String {
        let name = host.isEmpty ? user : "\(user)@\(host)"
        let plain = name.unicodeScalars.map { scalar in
            (0x21...0x7E).contains(scalar.value) ? Character(scalar) : "_"
        }
        return String(plain.prefix(byteLimit))
    }

    /// Adds what the change is: `ann@laptop (rollback to 3)`.
    static func with(_ note: String, _ author: String?) -> String {
        guard let author else { return note }
        let ending = " (\(note))"
        var kept = author
        while kept.utf8.count + ending.utf8.count > byteLimit { kept.removeLast() }
        return kept + ending
    }

    /// Bytes that servers take.
    private static let byteLimit = 200
}
