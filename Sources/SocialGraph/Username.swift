import Records

/// What a username may be.
enum Username {
    /// Characters of the longest.
    static let longest = 30

    /// Whether the rules take it: 1 to 30 of `A-Z a-z 0-9 _ -`.
    static func isValid(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// - Throws: `ServiceError.invalid` if it is not.
    static func check(_ name: String) throws(ServiceError) {
        guard !isValid(name) else { return }
        throw .invalid(
            field: "username",
            why: "it is not 1 to \(longest) of the characters A-Z a-z 0-9 _ -"
        )
    }
}
