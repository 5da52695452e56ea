package import Accounts
package import JSONTree
package import Tokens

/// The inputs of an identity request, at one moment.
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
    /// Whether an administrator who asks for accounts gets the hashes of their passwords.
    package var showsPasswordHashes = true
    /// The ticket of a refresh token; nil for one that this server has not made.
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

    /// A random text of `count` ASCII letters and digits.
    package func randomName(_ count: Int) -> String {
        randomText(count, of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    }

    /// A random text of `count` of these ASCII characters, each as likely as any other.
    func randomText(_ count: Int, of alphabet: String) -> String {
        let characters = Array(alphabet.utf8)
        // A multiple of their count: 248 for 62, 250 for 10.
        let limit = 256 / characters.count * characters.count
        var text: [UInt8] = []
        while text.count < count {
            for byte in random(2 * count) where byte < limit && text.count < count {
                text.append(characters[Int(byte) % characters.count])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A uid that no account has.
    package func newUID() -> String {
        while true {
            let uid = randomName(28)
            if directory.account(uid) == nil { return uid }
        }
    }
}
