import Terminal

/// The help on keys.
enum HelpText {
    private static let keys: [(String, String)] = [
        ("In the list", ""),
        ("↑ ↓  Enter", "choose a chat, open it"),
        ("n", "chat with a person, by username or e-mail"),
        ("r  o", "make a room, join a public one"),
        ("q", "quit; so does ^C everywhere"),
        ("In a chat", ""),
        ("Enter", "send what is typed"),
        ("page up  page down  ↑ ↓", "what was before, what came after"),
        ("^P  ^N", "choose a message above, below; Enter answers it"),
        ("Esc  Tab", "to the list, or choose no message"),
        ("^R  ^X", "send once more, or forget, what was refused"),
        ("^A ^E ^U ^K ^W", "begin, end, erase before, erase behind, erase a word"),
        ("Commands in a chat", ""),
        ("/invite NAME  /remove NAME  /ban NAME  /unban NAME", ""),
        ("/role NAME ROLE  /rename NEW NAME  /members  /leave", ""),
        ("/members-rename yes|no", ""),
        ("/reply TEXT  /edit TEXT  /unsend  /flag  /unflag", ""),
        ("/file PATH", ""),
        ("/mute  /unmute  /delete  /follow NAME  /unfollow NAME", ""),
        ("/block NAME  /unblock NAME  /bell  /help  /quit", ""),
        ("//text", "sends /text"),
    ]

    static var lines: [Line] {
        keys.map { keys, meaning in
            if meaning.isEmpty, !keys.hasPrefix("/") { return Line(" \(keys)", .bold) }
            var line = Line("   \(keys)", Look(color: .cyan))
            let room = max(1, 26 - TextWidth.columns(keys))
            line.append(String(repeating: " ", count: room) + meaning)
            return line
        }
    }
}
