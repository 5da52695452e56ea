/// Columns that text takes on a terminal.
///
/// By character as a person sees one: an accent adds nothing to the character below it, and a family of emoji joined
/// into one takes two. If a terminal uses another width for a character, only the rest of its line shifts: every line starts
/// at its own first column.
package enum TextWidth {
    /// 0, 1 or 2.
    package static func columns(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.value < 0x300 {
            guard first.value >= 0x20, !(0x7F...0x9F).contains(first.value) else { return 0 }
            // 1 and a keycap, or a sign that a selector makes an emoji of.
            return scalars.contains("\u{FE0F}") ? 2 : 1
        }
        if isWide(first.value) || (0x1F1E6...0x1F1FF).contains(first.value) { return 2 }
        if scalars.count > 1, scalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator,
            .paragraphSeparator:
            return 0
        case _: return 1
        }
    }

    /// Columns of a text without line ends.
    package static func columns(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// As much of the text as fits; an ellipsis ends it where something is left out.
    package static func cut(_ text: String, to width: Int) -> String {
        guard columns(text) > width else { return text }
        guard width > 0 else { return "" }
        var cut = ""
        var used = 1
        for character in text {
            used += columns(character)
            if used > width { break }
            cut.append(character)
        }
        return cut + "…"
    }

    /// The text in lines of at most `width` columns, broken between words where that can be; at least one line.
    ///
    /// Its own line ends are kept. A word that is longer than a line is broken anywhere.
    package static func wrap(_ text: String, to width: Int) -> [String] {
        let width = max(2, width)
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { wrapLine($0, width) }
    }

    private static func wrapLine(_ text: Substring, _ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        // Where the last space of the line is, behind which it can be broken, and the columns up to there.
        var space: (end: String.Index, used: Int)?
        for character in text {
            let columns = columns(character)
            if used + columns > width, character != " " {
                if let found = space {
                    let rest = String(line[found.end...])
                    lines.append(trimmed(line[..<found.end]))
                    line = rest
                    used -= found.used
                } else {
                    lines.append(line)
                    line = ""
                    used = 0
                }
                space = nil
            }
            line.append(character)
            used += columns
            if character == " " { space = (line.endIndex, used) }
        }
        lines.append(trimmed(line[...]))
        return lines
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    private static func isWide(_ value: UInt32) -> Bool {
        var low = 0
        var high = wide.count
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }

    /// Characters whose East_Asian_Width is W or F in Unicode 14 (`EastAsianWidth.txt`), in order;
    /// unassigned ones between two of them count too.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
        0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
        0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
        0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
        0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF,
        0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335,
        0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3,
        0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440,
        0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567,
        0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F,
        0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF,
        0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A,
        0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3134A,
    ]
}
