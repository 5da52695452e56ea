extension String {
    /// This text as one key of the tree.
    ///
    /// What people type goes into paths: a slash in it would lead elsewhere.
    /// - Throws: `ServiceError.invalid` for that field if it cannot be a key.
    package func key(_ field: String) throws(ServiceError) -> String {
        let isKey =
            !isEmpty && utf8.count <= 768
            && unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
            && !contains { "./#$[]".contains($0) }
        guard isKey else { throw .invalid(field: field, why: "it cannot be a key") }
        return self
    }
}

/// Lengths as the rules count them.
extension ServiceError {
    /// - Throws: `invalid` for that field when the text is longer than so many UTF-16 units, or shorter.
    package static func checkLength(
        of text: String,
        _ field: String,
        _ lengths: ClosedRange<Int>,
    ) throws(ServiceError) {
        let count = text.utf16.count
        if count > lengths.upperBound {
            throw .invalid(field: field, why: "it is longer than \(lengths.upperBound) characters")
        }
        if count < lengths.lowerBound {
            throw .invalid(
                field: field,
                why: count == 0
                    ? "it is empty" : "it is shorter than \(lengths.lowerBound) characters"
            )
        }
    }
}
