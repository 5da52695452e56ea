import Foundation

/// The fields by which searches find a person.
public enum SearchField: String, CaseIterable, Sendable {
    /// The name and the username, and each word of them.
    case name
    /// The e-mail address.
    case email
    /// The phone number.
    case phone

    /// Characters of the shortest prefix that is in the index: the rules show no shorter ones of addresses and
    /// numbers, or they could be spelled out one by one.
    public var shortestPrefix: Int {
        switch self {
        case .name: 1
        case .email, .phone: 5
        }
    }

    /// UTF-16 units of the longest prefix, as a key. The rules allow 64; half of that is enough for names, and longer
    /// texts are compared with the name itself.
    var longestPrefix: Int {
        switch self {
        case .name: 32
        case .email, .phone: 64
        }
    }
}

/// How texts become the keys of `searchIndex/{field}/{prefix}`: the same for who is found and for who searches.
public enum SearchPrefixes {
    /// Words of one name that it can be found by; a name is short, and this many keys are written with it.
    static let wordCount = 8

    /// The form in which texts are compared.
    ///
    /// A name: characters and digits in lower case without accents, each run of other characters as one space,
    /// apostrophes removed: `Zoë  O'Neil-Groß` is `zoe oneil gross`. An address: in lower case without spaces around
    /// it. A number: its digits, without the `+` or `00` of an international one.
    public static func normalised(_ text: String, in field: SearchField) -> String {
        switch field {
        case .name: normalisedName(text)
        case .email: text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        case .phone: normalisedPhone(text)
        }
    }

    private static func normalisedName(_ text: String) -> String {
        var name = String.UnicodeScalarView()
        // Upper case first: characters with two lower-case forms, as the Greek sigma and the German sharp s, have one
        // there.
        let folded = text.uppercased().lowercased().decomposedStringWithCompatibilityMapping
        for scalar in folded.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter, .decimalNumber, .letterNumber, .otherNumber, .spacingMark:
                name.append(scalar == "ς" ? "σ" : scalar)
            case .nonspacingMark, .enclosingMark, .format:
                continue
            // The only switch with a default: categories are the standard library's.
            default:
                if "'’ʼ`".unicodeScalars.contains(scalar) { continue }
                if name.last != " ", !name.isEmpty { name.append(" ") }
            }
        }
        if name.last == " " { name.removeLast() }
        return String(name)
    }

    private static func normalisedPhone(_ text: String) -> String {
        let digits = text.unicodeScalars.compactMap { scalar -> String? in
            guard scalar.properties.generalCategory == .decimalNumber,
                let value = scalar.properties.numericValue
            else { return nil }
            return String(Int(value))
        }.joined()
        return digits.hasPrefix("00") ? String(digits.dropFirst(2)) : digits
    }

    /// The keys that find a person with this name, address or number; unique, in order.
    ///
    /// `Ann Lee` is under `a`, `an`, `ann`, `ann `, `ann l`, ... and under `l`, `le`, `lee`.
    public static func keys(of text: String, in field: SearchField) -> [String] {
        var keys: Set<String> = []
        for start in starts(of: normalised(text, in: field), in: field) {
            var prefix = ""
            var count = 0
            for scalar in start.unicodeScalars {
                prefix += escaped(scalar)
                count += 1
                if prefix.utf16.count > field.longestPrefix { break }
                if count >= field.shortestPrefix { keys.insert(prefix) }
            }
        }
        return keys.sorted()
    }

    /// The one key of a whole text; nil when it is too short, or longer than a prefix may be: the index has no whole
    /// key for such a text.
    public static func wholeKey(of text: String, in field: SearchField) -> String? {
        let scalars = normalised(text, in: field).unicodeScalars
        let key = scalars.map(escaped).joined()
        guard scalars.count >= field.shortestPrefix, key.utf16.count <= field.longestPrefix else {
            return nil
        }
        return key
    }

    /// The key for a typed beginning; nil when it is too short.
    public static func key(for beginning: String, in field: SearchField) -> String? {
        var prefix = ""
        var count = 0
        for scalar in normalised(beginning, in: field).unicodeScalars {
            let piece = escaped(scalar)
            if (prefix + piece).utf16.count > field.longestPrefix { break }
            prefix += piece
            count += 1
        }
        return count < field.shortestPrefix ? nil : prefix
    }

    /// Whether a text is found by a beginning, as the index would find it if its prefixes had no end.
    static func matches(_ text: String, _ beginning: String, in field: SearchField) -> Bool {
        let beginning = Array(normalised(beginning, in: field).unicodeScalars)
        return starts(of: normalised(text, in: field), in: field).contains {
            $0.unicodeScalars.starts(with: beginning)
        }
    }

    /// The text from each of its words on; of an address and a number the whole alone.
    private static func starts(of text: String, in field: SearchField) -> [Substring] {
        switch field {
        case .email, .phone: [Substring(text)]
        case .name: text.split(separator: " ").prefix(wordCount).map { text[$0.startIndex...] }
        }
    }

    /// Escapes characters that keys cannot contain, and the equals sign itself, as an equals sign and two hex digits.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let isPlain =
            scalar.value >= 32 && scalar.value != 127
            && !"=.#$/[]".unicodeScalars.contains(scalar)
        if isPlain { return String(scalar) }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "=" + (digits.count < 2 ? "0" : "") + digits
    }
}
