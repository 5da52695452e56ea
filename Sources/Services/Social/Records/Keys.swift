extension String {
    /// This text as one key of the tree.
    ///
    /// Users' input becomes part of paths: a slash in it would lead elsewhere.
    /// - Throws: `ServiceError.invalid` for that field if it cannot be a key.
    package func key(_ field: String) throws(ServiceError) -> String {
        guard isKey else { throw .invalid(field: field, why: "it cannot be a key") }
        return self
    }

    /// Whether it can be one key of the tree.
    package var isKey: Bool {
        !isEmpty && utf8.count <= 768
            && unicodeScalars.allSatisfy { scalar in
                scalar.value >= 32 && scalar.value != 127
                    && !"./#$[]".unicodeScalars.contains(scalar)
            }
    }
}

/// Lengths as the rules count them.
extension ServiceError {
    /// - Throws: `invalid` for that field when the text has more or fewer UTF-16 units than allowed.
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
