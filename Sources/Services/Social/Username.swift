/// The form of a username.
package enum Username {
    private static let lengths = 1...30

    /// Whether the rules take it: 1 to 30 of `A-Z a-z 0-9 _ -`.
    package static func isValid(_ name: String) -> Bool {
        name.isPlainKey && lengths.contains(name.utf8.count)
    }

    static func check(_ name: String) throws(ServiceError) {
        guard !isValid(name) else { return }
        throw .invalid(
            field: "username",
            why: "it is not 1 to \(lengths.upperBound) of the characters A-Z a-z 0-9 _ -"
        )
    }
}
