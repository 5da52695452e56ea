/// An address or a phone number in a message, which a program shows as a link.
///
/// Addresses of pages begin with `http://`, `https://` or `www.`; phone numbers with `+` or `0`. Punctuation at the
/// end, and a bracket that was opened before it, belong to the sentence. `Tests/Clients/links.json` has examples.
public struct TextLink: Equatable, Sendable {
    /// Where it is in the text.
    public let range: Range<String.Index>
    /// Where it leads: `http:`, `https:`, `mailto:` or `tel:`, in printable ASCII alone.
    public let address: String

    /// All of a text, in their order.
    public static func all(in text: String) -> [TextLink] {
        var links: [TextLink] = []
        for word in text.split(whereSeparator: { $0.isWhitespace || "<>\"".contains($0) }) {
            let word = trimmed(word)
            guard let address = page(word) ?? email(word) else { continue }
            links.append(TextLink(range: word.startIndex..<word.endIndex, address: address))
        }
        var numbers: [TextLink] = []
        var start = text.startIndex
        for end in links.map(\.range.lowerBound) + [text.endIndex] {
            numbers += phones(in: text[start..<end])
            if end < text.endIndex {
                start = links.first { $0.range.lowerBound == end }?.range.upperBound ?? end
            }
        }
        return (links + numbers).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    // MARK: Words

    private static let brackets: [Character: Character] = [")": "(", "]": "[", "}": "{"]

    /// A word without the punctuation of the sentence around it.
    private static func trimmed(_ word: Substring) -> Substring {
        var word = word.drop { "([{'«„“‚‘*_`,;".contains($0) }
        while let last = word.last {
            if let opening = brackets[last] {
                guard word.count(where: { $0 == last }) > word.count(where: { $0 == opening })
                else { break }
            } else if !".,;:!?'»“”’…*_`".contains(last) {
                break
            }
            word.removeLast()
        }
        return word
    }

    private static func page(_ word: Substring) -> String? {
        let start = word.prefix(8).lowercased()
        let scheme = ["https://", "http://"].first { start.hasPrefix($0) }
        guard scheme != nil || start.hasPrefix("www.") else { return nil }
        let rest = word.dropFirst(scheme?.count ?? 0)
        let host = rest.prefix { !"/?#:".contains($0) }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard scheme != nil || labels.count > 2, isHost(labels) else { return nil }
        let port = rest[host.endIndex...].prefix { !"/?#".contains($0) }
        guard port.isEmpty || port.dropFirst().allSatisfy(\.isASCIIDigit) && port.count > 1 else {
            return nil
        }
        return (scheme ?? "https://") + encoded(rest)
    }

    private static func email(_ word: Substring) -> String? {
        let isNamed = word.prefix(7).lowercased() == "mailto:"
        let parts = word.dropFirst(isNamed ? 7 : 0)
            .split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let name = parts.first, let host = parts.last, !name.isEmpty,
            name.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._%+-".contains($0) }),
            name.first != ".", name.last != "."
        else { return nil }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, isHost(labels), host.utf8.allSatisfy({ $0 < 0x80 }),
            let last = labels.last, last.count > 1, last.allSatisfy(\.isASCIILetter)
        else { return nil }
        return "mailto:\(name)@\(host)"
    }

    private static func isHost(_ labels: [Substring]) -> Bool {
        labels.allSatisfy { label in
            !label.isEmpty && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isLetter || $0.isASCIIDigit || $0 == "-" || $0 == "_" }
        }
    }

    /// Escapes everything but printable ASCII, and the characters that end an address, as `%` and two digits.
    private static func encoded(_ text: Substring) -> String {
        let digits = Array("0123456789ABCDEF")
        var address = ""
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F, !"\\^`{|}".utf8.contains(byte) {
                address.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                address += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return address
    }

    // MARK: Phone numbers

    /// Digits that a number has: with the code of a country, and without one.
    private static let internationalDigits = 7...15
    private static let nationalDigits = 9...15

    private static func phones(in text: Substring) -> [TextLink] {
        var links: [TextLink] = []
        var index = text.startIndex
        var isFree = true
        while index < text.endIndex {
            let character = text[index]
            if isFree, let (end, address) = phone(text[index...]) {
                links.append(TextLink(range: index..<end, address: address))
                index = end
                isFree = false
                continue
            }
            isFree = character.isWhitespace || "([:".contains(character)
            index = text.index(after: index)
        }
        return links
    }

    /// The number with which a text begins: where it ends, and its address.
    private static func phone(_ text: Substring) -> (end: String.Index, address: String)? {
        guard let first = text.first(where: { $0 != "(" }), first == "+" || first == "0",
            text.prefix(2) != "(("
        else { return nil }
        let isInternational = first == "+"
        let separators = isInternational ? " ()/-." : " ()/-"
        var end = text.startIndex
        var digits = ""
        var last: Character = " "
        for index in text.indices {
            let character = text[index]
            if character.isASCIIDigit {
                digits.append(character)
                end = text.index(after: index)
            } else if character == "+" {
                guard digits.isEmpty else { break }
            } else {
                // Two of one kind beside each other belong to no number.
                guard separators.contains(character), character != last else { break }
            }
            last = character
        }
        if end < text.endIndex, text[end].isLetter || text[end] == "@" || text[end] == "_" {
            return nil
        }
        let counts = isInternational ? internationalDigits : nationalDigits
        guard counts.contains(digits.count) else { return nil }
        // +43 (0)1 2345: the 0 is for those in the country.
        let shown = text[..<end]
        if isInternational, let trunk = shown.firstRange(of: "(0)") {
            digits = String(
                (shown[..<trunk.lowerBound] + shown[trunk.upperBound...]).filter(\.isASCIIDigit)
            )
        }
        return (end, "tel:\(isInternational ? "+" : "")\(digits)")
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
    fileprivate var isASCIILetter: Bool { isASCII && isLetter }
}
