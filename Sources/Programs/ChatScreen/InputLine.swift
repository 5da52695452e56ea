import Terminal

/// A line that is typed, and where its cursor is.
package struct InputLine: Equatable, Sendable {
    private var characters: [Character] = []
    /// From 0 to the count of characters.
    private var cursor = 0

    package init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    package var text: String { String(characters) }
    package var isEmpty: Bool { characters.isEmpty }

    /// Takes a key of editing.
    ///
    /// - Returns: False when the key does not edit.
    mutating func edit(_ key: Key) -> Bool {
        switch key {
        case .character(let character): insert([character])
        case .paste(let text): insert(Array(text))
        case .backspace, .control("h"):
            if cursor > 0 {
                cursor -= 1
                characters.remove(at: cursor)
            }
        case .delete, .control("d"):
            if cursor < characters.count { characters.remove(at: cursor) }
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .control("u"):
            characters.removeFirst(cursor)
            cursor = 0
        case .control("k"): characters.removeLast(characters.count - cursor)
        case .control("w"): removeWord()
        case .control, .enter, .tab, .backTab, .escape, .up, .down, .pageUp, .pageDown, .f1:
            return false
        }
        return true
    }

    private mutating func insert(_ new: [Character]) {
        // A base and a following accent are one character.
        let before = String(characters[..<cursor]) + String(new)
        let after = characters[cursor...]
        characters = Array(before)
        cursor = characters.count
        characters += after
    }

    private mutating func removeWord() {
        let end = cursor
        while cursor > 0, characters[cursor - 1] == " " { cursor -= 1 }
        while cursor > 0, characters[cursor - 1] != " " { cursor -= 1 }
        characters.removeSubrange(cursor..<end)
    }

    /// As much of it as fits, with the cursor in sight; line ends are shown as signs.
    func shown(in columns: Int) -> (text: String, cursor: Int) {
        let signs = characters.map { character -> String in
            character.isNewline ? "⏎" : Line.harmless(String(character))
        }
        let widths = signs.map { TextWidth.columns($0) }
        var start = 0
        var used = widths[..<cursor].reduce(0, +)
        // One column is the cursor's own.
        while used >= columns, start < cursor {
            used -= widths[start]
            start += 1
        }
        var text = ""
        var width = 0
        for index in start..<signs.count {
            width += widths[index]
            if width > columns { break }
            text += signs[index]
        }
        return (text, used)
    }
}
