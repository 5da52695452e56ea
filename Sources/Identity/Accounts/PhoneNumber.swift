/// Telephone numbers as ITU-T E.164 has them.
package enum PhoneNumber {
    /// Digits behind the plus sign. Source: E.164 section 6.1 for the most; no country has numbers of fewer than 4.
    package static let digitCounts = 4...15

    /// `+` and digits, the first of which is not 0; nil for what is not a number.
    ///
    /// What people write between the digits (spaces, hyphens, dots, brackets) is left out.
    package static func normalized(_ text: String) -> String? {
        var scalars = Array(text.unicodeScalars.prefix(64))
        guard scalars.count < 64, scalars.first == "+" else { return nil }
        scalars.removeAll { " -.()".unicodeScalars.contains($0) }
        let digits = scalars.dropFirst()
        guard digitCounts.contains(digits.count), digits.first != "0",
            digits.allSatisfy({ ("0"..."9").contains($0) })
        else { return nil }
        return String(String.UnicodeScalarView(scalars))
    }
}
