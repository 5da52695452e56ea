/// The rules' limits of attachments, checked before anything is sent.
///
/// Source: `rules/chat.json` and `rules/social.storage`.
public enum AttachmentLimits {
    /// Files of one message: each has a digit as its name.
    public static let count = 10
    /// Characters (UTF-16 units) of a title.
    public static let titleLength = 1...200
    /// Bytes of a file.
    public static let byteCount = 100 << 20
}
