import Foundation

/// Strings and numbers as the rules language has them, on arrays of UTF-16 code units.
enum OracleText {
    static func length(_ text: String) -> Int { text.utf16.count }

    static func isOrdered(_ a: String, before b: String) -> Bool {
        let (x, y) = (Array(a.utf16), Array(b.utf16))
        for index in 0..<min(x.count, y.count) where x[index] != y[index] {
            return x[index] < y[index]
        }
        return x.count < y.count
    }

    static func begins(_ text: String, with part: String) -> Bool {
        let (units, piece) = (Array(text.utf16), Array(part.utf16))
        return units.count >= piece.count && Array(units[..<piece.count]) == piece
    }

    static func ends(_ text: String, with part: String) -> Bool {
        let (units, piece) = (Array(text.utf16), Array(part.utf16))
        return units.count >= piece.count && Array(units[(units.count - piece.count)...]) == piece
    }

    static func contains(_ text: String, _ part: String) -> Bool {
        var units = text.utf16[...]
        while units.count >= part.utf16.count {
            if units.starts(with: part.utf16) { return true }
            if units.isEmpty { return false }
            units = units.dropFirst()
        }
        return false
    }

    /// Every occurrence, from the left; an empty text occurs nowhere.
    static func replacing(_ text: String, _ old: String, _ new: String) -> String {
        if old.isEmpty { return text }
        var rest = Array(text.utf16)[...]
        var out: [UInt16] = []
        while !rest.isEmpty {
            if rest.starts(with: old.utf16) {
                out += Array(new.utf16)
                rest = rest.dropFirst(old.utf16.count)
            } else {
                out.append(rest.removeFirst())
            }
        }
        return String(decoding: out, as: UTF16.self)
    }

    /// The characters that occur here and have cases; `ß` has two capitals.
    private static let cases: [(lower: String, upper: String)] =
        zip("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ").map {
            (String($0), String($1))
        } + [("é", "É"), ("ω", "Ω"), ("ж", "Ж")]

    static func lowercased(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            cases.first { $0.upper == String(scalar) }?.lower ?? String(scalar)
        }.joined()
    }

    static func uppercased(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            if scalar == "ß" { return "SS" }
            return cases.first { $0.lower == String(scalar) }?.upper ?? String(scalar)
        }.joined()
    }

    /// The other case of a character.
    static func simpleCases(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        let text = String(scalar)
        return cases.flatMap { pair in
            pair.lower == text || pair.upper == text
                ? Array(pair.lower.unicodeScalars) + Array(pair.upper.unicodeScalars) : []
        }
    }

    /// A number as JavaScript prints it: the fewest digits that read back as the same number.
    static func text(of number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return "0" }
        if number < 0 { return "-" + text(of: -number) }
        if number == number.rounded(), number < 1e15 { return String(Int(number)) }
        var printed = ""
        for digitCount in 0...16 {
            printed = String(format: "%.\(digitCount)e", number)
            if Double(printed) == number { break }
        }
        let parts = printed.split(separator: "e")
        let digits = parts[0].filter { $0 != "." }
        let exponent = Int(parts[1]) ?? 0
        if exponent >= 21 || exponent < -6 {
            let fraction = digits.dropFirst()
            let sign = exponent < 0 ? "-" : "+"
            return digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction)
                + "e" + sign + String(abs(exponent))
        }
        if exponent < 0 {
            return "0." + String(repeating: "0", count: -exponent - 1) + digits
        }
        if exponent + 1 >= digits.count {
            return digits + String(repeating: "0", count: exponent + 1 - digits.count)
        }
        return digits.prefix(exponent + 1) + "." + digits.dropFirst(exponent + 1)
    }
}
