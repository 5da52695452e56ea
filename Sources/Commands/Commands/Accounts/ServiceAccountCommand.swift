import ArgumentParser
import Files
import Glibc
import HTTPClient
import JSONTree

struct ServiceAccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-account",
        abstract: "Make and revoke keys by which programs are administrators of a server.",
        discussion: """
            Examples:
              hearth service-account create backend --output backend.json
              hearth service-account list
              hearth service-account revoke backend

            Exit codes: 0 done, 1 failed or refused, 2 wrong usage.
            """,
        subcommands: [Create.self, List.self, Revoke.self],
    )

    private static let address = "/.accounts/service-accounts.json"

    /// `hearth service-account create`.
    ///
    /// The server sends the private key only once: if the file cannot be written, the key is revoked.
    struct Create: Command {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a service account and write its key file, for a program.",
            discussion: """
                A program with the file may do everything on the server. The server keeps no copy of it: the file is made this once, and its \
                owner alone can read it. The address of the server must be the one that the SDK will use; where it is another, the \
                server's --public-url says so.

                The Admin SDK of Python reads and writes data with it (tried: firebase-admin 7.7.0, google-auth 2.19.1 to 2.62.2). Other \
                Admin SDKs were not run: 'Admin SDKs in production' in docs/guides/SERVICE_ACCOUNTS.md describes each. An SDK's \
                accounts and messages stay Google's: this file gives no access to them.

                Examples:
                  hearth service-account create backend --url https://db.example.com --admin-secret-file admin-secret
                  hearth service-account create backend --add-key --output next.json
                """,
        )

        @Argument(help: "Characters a-z, 0-9 and -, at most 30.")
        var name: String

        @Option(
            name: .shortAndLong,
            file: "The key file (default: NAME-service-account.json); '-' is standard output."
        )
        var output: String?

        @Flag(help: "Make one more key of a service account that is there.")
        var addKey = false

        @Flag(name: .shortAndLong, help: "Replace a file that is there.")
        var force = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let path = output ?? "\(name)-service-account.json"
            if path != "-", !force, access(path, F_OK) == 0 {
                throw .usage(
                    "\(path) is there already; --force replaces it, --output names another file"
                )
            }
            let body: JSONValue = ["name": .string(name), "addKey": addKey ? .boolean(true) : nil]
            let answer = try service.answer(.post, ServiceAccountCommand.address, json: body.text)
            let key = try service.tree(answer)
            guard let email = key.member("client_email").string,
                let id = key.member("private_key_id").string
            else { throw .failed("\(service.database.origin) answers no key") }
            do throws(CommandError) {
                try write(answer, to: path)
            } catch {
                let what = addKey ? "the new key" : "the service account"
                try service.revoke(name, key: addKey ? id : nil)
                throw .failed("\(error)\n\(what) is revoked again")
            }
            let address = key.member("token_uri").string ?? service.database.origin
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
            return .done("", errors: words)
        }

        private func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
            guard path != "-", !force else {
                return try OutputFile.write(bytes, to: path, isPrivate: true)
            }
            let isMade: Bool
            do throws(FileError) {
                isMade = try SmallFile.createPrivate(path, bytes)
            } catch {
                throw .failed("\(error)")
            }
            guard isMade else { throw .failed("\(path) is there already; --force replaces it") }
        }
    }

    struct List: Command {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List service accounts and the names of their keys.",
            discussion: """
                Examples:
                  hearth service-account list --json
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let answer = try service.answer(.get, ServiceAccountCommand.address)
            if json { return .done(String(decoding: answer, as: UTF8.self)) }
            var hasOld = false
            let rows = try service.tree(answer).member("serviceAccounts").elements.map { account in
                let keys = account.member("keys").elements.map { key in
                    let id = key.member("id").string ?? ""
                    let isOld = key.member("ownUniverse").boolean == false
                    hasOld = hasOld || isOld
                    return isOld ? "\(id) (old)" : id
                }
                return [
                    account.member("name").string ?? "", account.member("email").string ?? "",
                    account.member("createdAt").integer.map { ISO8601.text(of: $0) } ?? "",
                    keys.joined(separator: " "),
                ]
            }
            if rows.isEmpty { return .done("\(service.database.origin) has no service accounts") }
            let table = TextTable.text(["name", "e-mail", "created", "keys"], rows)
            return .done(table, errors: hasOld ? Self.oldKeyWarning : "")
        }

        private static let oldKeyWarning = """
            warning: with the file of a key marked (old) Google's libraries may send access tokens of this server to Google; \
            make a new file (hearth service-account create NAME --add-key), hand it out, then \
            revoke the old key (hearth service-account revoke NAME --key ID)
            """
    }

    struct Revoke: Command {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract:
                "Take a service account away, or one of its keys; its tokens are void at once.",
            discussion: """
                Examples:
                  hearth service-account revoke backend
                  hearth service-account revoke backend --key 3f2a...
                """,
        )

        @Argument(help: "The name.")
        var name: String

        @Option(help: .value("id", "Only this key of the service account."))
        var key: String?

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            try AdministeredServer(server.database()).revoke(name, key: key)
            guard let key else { return .done("\(name) is revoked, with all its keys and tokens") }
            return .done("the key \(key) of \(name) is revoked, and every token of \(name) so far")
        }
    }
}

extension AdministeredServer {
    /// Takes a service account away, or one of its keys.
    fileprivate func revoke(_ name: String, key: String?) throws(CommandError) {
        let segment = PercentCoding.encode(name)
        _ = try answer(
            .delete,
            "/.accounts/service-accounts/\(segment).json",
            key.map { [("key", $0)] } ?? []
        )
    }
}
