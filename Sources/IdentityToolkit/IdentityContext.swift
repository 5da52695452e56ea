package import Accounts
package import JSONTree
package import Tokens

/// What an identity request is judged by, as it is at one moment.
package struct IdentityContext {
    package let directory: AccountDirectory
    package let policy: IdentityPolicy
    package let now: Timestamp
    /// The scheme, host and port under which the caller reached the server: `https://db.example.com`.
    package let address: String
    /// Gives random bytes, for identifiers and codes.
    package let random: (_ byteCount: Int) -> [UInt8]
    /// The messages that can be read at the emulator's address, the oldest first; none in production.
    package var messages: [OneTimeMessage] = []
    /// What a refresh token stands for; nil for one that this server has not made.
    package var openTicket: (_ token: String) -> RefreshTicket? = { _ in nil }

    package init(
        directory: AccountDirectory,
        policy: IdentityPolicy,
        now: Timestamp,
        address: String,
        random: @escaping (_ byteCount: Int) -> [UInt8]
    ) {
        self.directory = directory
        self.policy = policy
        self.now = now
        self.address = address
        self.random = random
    }

    /// Whole seconds since 1970.
    package var seconds: Int64 { now.milliseconds / 1000 }

    /// A random text of `count` letters and digits.
    package func randomName(_ count: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var name: [UInt8] = []
        while name.count < count {
            // 248 is 4 times 62: every letter is as likely as any other.
            for byte in random(2 * count) where byte < 248 && name.count < count {
                name.append(letters[Int(byte) % letters.count])
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// A uid that nobody has.
    package func newUID() -> String {
        while true {
            let uid = randomName(28)
            if directory.account(uid) == nil { return uid }
        }
    }
}
