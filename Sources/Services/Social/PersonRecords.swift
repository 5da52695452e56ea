/// Which records of a person the rules of a server know.
public enum PersonRecords: Sendable {
    /// `users` and `usernames`: all that `timeline.json` has.
    case graph
    /// Also `profiles`, `private` and `searchIndex`: `chat.json` and `social.json`.
    case messagingKit
}
