package import DataCommands
package import Files
import Glibc
import HTTPClient
import JSONTree

/// `hearth service-account ...`.
package enum ServiceAccountKeys {
    private static let resource = "/.accounts/service-accounts.json"

    /// How a key file is made.
    package struct Choice: Sendable {
        /// The file; `-` for standard output, nil for `NAME-service-account.json`.
        package var output: String?
        /// Whether a file that is there may be replaced.
        package var isForced = false
        /// Whether the service account is there and gets one more key.
        package var addsKey = false

        package init() {}
    }

    /// Makes a service account, or one more key of it, and writes the key file.
    ///
    /// The server tells the private key this once: when the file cannot be written, the key is revoked again.
    ///
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package static func create(
        _ name: String,
        at database: RemoteDatabase,
        _ choice: Choice
    ) throws(CommandError) -> CommandOutcome {
        let path = choice.output ?? "\(name)-service-account.json"
        if path != "-", !choice.isForced, access(path, F_OK) == 0 {
            throw .usage(
                "\(path) is there already; --force replaces it, --output names another file"
            )
        }
        var body = JSONObjectText()
        body.add("name", name)
        if choice.addsKey { body.add("addKey", true) }
        let answer = try AccountService.answer(of: database, .post, resource, json: body.bytes)
        let key = try AccountService.tree(answer, of: database)
        guard let email = key.member("client_email").string,
            let id = key.member("private_key_id").string
        else { throw .failed("\(database.origin) answers no key") }
        do throws(CommandError) {
            try write(answer, to: path, isForced: choice.isForced)
        } catch {
            let what = choice.addsKey ? "the new key" : "the service account"
            try revoke(name, key: choice.addsKey ? id : nil, at: database)
            throw .failed("\(error)\n\(what) is revoked again")
        }
        let address = key.member("token_uri").string ?? database.origin
        var words = """
            \(email) may do everything at \(address)
            its key \(id) is in \(path == "-" ? "the output" : path); keep it secret
            """
        if address.lowercased().hasPrefix("http://") {
            words += """

                warning: Admin SDKs send such a key to https addresses alone. Give the server a certificate (--tls-cert) or name the \
                address of its proxy (--public-url https://...), then make the key anew; for development an SDK needs no key but \
                FIREBASE_DATABASE_EMULATOR_HOST and FIREBASE_AUTH_EMULATOR_HOST
                """
        }
        return CommandOutcome(output: "", errors: words, exitCode: 0)
    }

    private static func write(
        _ bytes: [UInt8],
        to path: String,
        isForced: Bool
    ) throws(CommandError) {
        guard path != "-", !isForced else {
            let file = try OutputFile(path, isPrivate: true)
            try file.write(bytes)
            try file.finish()
            return
        }
        let isMade: Bool
        do throws(FileError) {
            isMade = try SmallFile.createPrivate(path, bytes)
        } catch {
            throw .failed("\(error)")
        }
        guard isMade else { throw .failed("\(path) is there already; --force replaces it") }
    }

    /// Lists the service accounts: a table, or as the server tells them.
    package static func list(
        _ database: RemoteDatabase,
        isJSON: Bool
    ) throws(CommandError) -> CommandOutcome {
        let answer = try AccountService.answer(of: database, .get, resource)
        if isJSON { return .done(String(decoding: answer, as: UTF8.self)) }
        var rows: [[String]] = []
        var hasOld = false
        let accounts = try AccountService.tree(answer, of: database).member("serviceAccounts")
        accounts.visitChildren { _, account in
            var keys: [String] = []
            account.member("keys").visitChildren { _, key in
                let id = key.member("id").string ?? ""
                let isOld = key.member("ownUniverse").boolean == false
                keys.append(isOld ? "\(id) (old)" : id)
                hasOld = hasOld || isOld
                return true
            }
            rows.append([
                account.member("name").string ?? "", account.member("email").string ?? "",
                account.member("createdAt").integer.map { ISO8601.text(of: $0) } ?? "",
                keys.joined(separator: " "),
            ])
            return true
        }
        if rows.isEmpty { return .done("\(database.origin) has no service accounts") }
        let table = TextTable.text(["name", "e-mail", "created", "keys"], rows)
        return .done(table, errors: hasOld ? oldKeyWarning : "")
    }

    private static let oldKeyWarning = """
        warning: with the file of a key marked (old) Google's libraries may send access tokens of this server to Google; \
        make a new file (hearth service-account create NAME --add-key), hand it out, then \
        revoke the old key (hearth service-account revoke NAME --key ID)
        """

    /// Takes a service account away, or one of its keys.
    @discardableResult
    package static func revoke(
        _ name: String,
        key: String?,
        at database: RemoteDatabase
    ) throws(CommandError) -> CommandOutcome {
        let segment = RemoteDatabase.segment(name)
        _ = try AccountService.answer(
            of: database,
            .delete,
            "/.accounts/service-accounts/\(segment).json",
            key.map { [("key", $0)] } ?? []
        )
        guard let key else { return .done("\(name) is revoked, with all its keys and tokens") }
        return .done("the key \(key) of \(name) is revoked, and every token of \(name) so far")
    }
}
