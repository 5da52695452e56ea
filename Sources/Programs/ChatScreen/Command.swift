/// A command typed after a slash.
package enum Command: Equatable, Sendable {
    case help
    case invite(String)
    case remove(String)
    case ban(String)
    case unban(String)
    case role(String, String)
    case rename(String)
    case members
    case leave
    case delete
    case mute
    case unmute
    case follow(String)
    case unfollow(String)
    case block(String)
    case unblock(String)
    /// Other words for the chosen message, or the own latest one; empty to have them typed.
    case edit(String)
    /// Deletes the chosen message, or the own latest one.
    case unsend
    /// Answers the chosen message, or the latest one of another.
    case reply(String)
    /// Sends the file of a path.
    case file(String)
    case flag
    case unflag
    case bell
    case membersRename(Bool)
    case quit

    /// Whether it is for the own latest message, unless one is chosen.
    var isForOwnMessage: Bool {
        switch self {
        case .edit, .unsend: true
        default: false
        }
    }

    /// The meaning of a line: a message, if it begins with no slash or with two.
    package enum Reading: Equatable, Sendable {
        case text(String)
        case command(Command)
        /// No command, and why.
        case wrong(String)
    }

    /// Reads a line.
    package static func read(_ line: String) -> Reading {
        guard line.hasPrefix("/") else { return .text(line) }
        if line.hasPrefix("//") { return .text(String(line.dropFirst())) }
        let words = line.dropFirst().split(separator: " ", maxSplits: 1)
        let name = words.first.map { String($0) } ?? ""
        let rest = words.count > 1 ? trimmed(words[1]) : ""
        guard let command = command(name, rest) else {
            return .wrong("there is no /\(name); /help lists the commands")
        }
        switch command {
        case .invite(""), .remove(""), .ban(""), .unban(""), .unfollow(""), .block(""),
            .unblock(""):
            return .wrong("/\(name) USERNAME")
        case .rename(""): return .wrong("/rename NEW NAME")
        case .reply(""): return .wrong("/reply TEXT")
        case .file(""): return .wrong("/file PATH")
        case .role(_, ""), .role("", _): return .wrong("/role USERNAME owner|admin|member|watcher")
        case .help, .invite, .remove, .ban, .unban, .role, .rename, .members, .leave, .delete,
            .mute, .unmute, .follow, .unfollow, .block, .unblock, .edit, .unsend, .reply, .file,
            .flag,
            .unflag, .bell, .membersRename, .quit:
            return .command(command)
        }
    }

    private static func command(_ name: String, _ rest: String) -> Command? {
        switch name {
        case "help": .help
        case "invite": .invite(rest)
        case "remove": .remove(rest)
        case "ban": .ban(rest)
        case "unban": .unban(rest)
        case "role": role(rest)
        case "rename": .rename(rest)
        case "members": .members
        case "leave": .leave
        case "delete": .delete
        case "mute": .mute
        case "unmute": .unmute
        case "follow": .follow(rest)
        case "unfollow": .unfollow(rest)
        case "block": .block(rest)
        case "unblock": .unblock(rest)
        case "edit": .edit(rest)
        case "unsend": .unsend
        case "reply": .reply(rest)
        case "file": .file(rest)
        case "flag": .flag
        case "unflag": .unflag
        case "bell": .bell
        case "members-rename": .membersRename(rest != "no")
        case "quit": .quit
        case _: nil
        }
    }

    private static func role(_ rest: String) -> Command {
        let words = rest.split(separator: " ").map { String($0) }
        return words.count == 2 ? .role(words[0], words[1]) : .role("", "")
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
