package import DataCommands
import HTTPClient
import JSONTree

/// The accounts of a server, as its administrator reaches them.
package struct AccountService {
    let database: RemoteDatabase
    private let chosenProject: String?

    /// - Parameters:
    ///   - database: The server.
    ///   - project: The project whose accounts are meant; nil for the server's own.
    package init(_ database: RemoteDatabase, project: String? = nil) {
        self.database = database
        chosenProject = project
    }

    /// The project whose accounts are meant.
    ///
    /// - Throws: `CommandError` when the server does not tell it.
    func project() throws(CommandError) -> String {
        if let chosenProject { return chosenProject }
        return try project(RealmDescription.of(database))
    }

    /// The same of a server that has described itself.
    func project(_ realm: RealmDescription) throws(CommandError) -> String {
        if let project = chosenProject ?? realm.project { return project }
        throw .failed("\(database.origin) tells no project: is it an older server?")
    }

    /// Calls a method of the project, such as `accounts:lookup`.
    ///
    /// - Parameters:
    ///   - name: What follows the project in the address.
    ///   - project: The project.
    ///   - parameters: The query.
    ///   - json: The body; with nil the method is asked for by GET.
    /// - Returns: The body of the answer, an object.
    /// - Throws: `CommandError` when the server refuses, or answers something else.
    func call(
        _ name: String,
        of project: String,
        _ parameters: [(name: String, value: String)] = [],
        json: [UInt8]? = nil
    ) throws(CommandError) -> [UInt8] {
        let segment = RemoteDatabase.segment(project)
        return try answer(
            json == nil ? .get : .post,
            "/identitytoolkit.googleapis.com/v1/projects/\(segment)/\(name)",
            parameters,
            json: json
        )
    }

    /// Asks one of the server's own addresses for accounts, or any other.
    ///
    /// - Throws: `CommandError` when the server refuses, or answers something else than an object.
    func answer(
        _ method: HTTPRequest.Method,
        _ resource: String,
        _ parameters: [(name: String, value: String)] = [],
        json: [UInt8]? = nil
    ) throws(CommandError) -> [UInt8] {
        try Self.answer(of: database, method, resource, parameters, json: json)
    }

    static func answer(
        of database: RemoteDatabase,
        _ method: HTTPRequest.Method,
        _ resource: String,
        _ parameters: [(name: String, value: String)] = [],
        json: [UInt8]? = nil
    ) throws(CommandError) -> [UInt8] {
        let request = database.request(method, resource: resource, parameters, json: json)
        let response = try database.send(request)
        guard response.isSuccess else { throw refusal(of: database, request, response) }
        guard response.body.first(where: { $0 > 32 }) == UInt8(ascii: "{") else {
            throw .failed("\(database.origin) answers no accounts: is it an older server?")
        }
        return response.body
    }

    /// The text of an answer as a tree.
    func tree(_ body: [UInt8]) throws(CommandError) -> Node {
        try Self.tree(body, of: database)
    }

    static func tree(_ body: [UInt8], of database: RemoteDatabase) throws(CommandError) -> Node {
        do throws(JSONError) {
            return try Node.readingAnyJSON(body)
        } catch {
            throw .failed("what \(database.origin) answers is no JSON")
        }
    }

    /// What a refusal says, and what to do about it where that is known.
    private static func refusal(
        of database: RemoteDatabase,
        _ request: HTTPRequest,
        _ response: HTTPResponse
    ) -> CommandError {
        let plain = database.refusal(request, response)
        guard let message = message(of: response.body) else { return plain }
        let code = message.prefix { $0 != " " && $0 != ":" }
        var text = "\(database.origin) refuses: \(message)"
        if let words = explanations[String(code)] { text += " (\(words))" }
        // Who asks is what these are about, as with data.
        if response.status == 401 || response.status == 403 {
            text += "; HEARTH_TOKEN or --admin-secret-file say who asks"
        }
        return .failed(text)
    }

    /// `error.message` of a refusal in the form of the identity service.
    static func message(of body: [UInt8]) -> String? {
        do throws(JSONError) {
            return try Node.readingAnyJSON(body).member("error").member("message").string
        } catch {
            return nil
        }
    }

    private static let explanations = [
        "EMAIL_EXISTS": "another account has this e-mail address",
        "PHONE_NUMBER_EXISTS": "another account has this phone number",
        "DUPLICATE_LOCAL_ID": "there is an account with this uid",
        "DUPLICATE_EMAIL": "another account has this e-mail address",
        "EMAIL_NOT_FOUND": "no account has this e-mail address",
        "USER_NOT_FOUND": "there is no such account",
        "INVALID_EMAIL": "an address has one '@' with text on both sides",
        "INVALID_PHONE_NUMBER": "a phone number is '+' and digits, such as +4930123456",
        "INVALID_HASH_ALGORITHM":
            "how the passwords are hashed is said by --hash-algo and its companions",
        "MISSING_HASH_ALGORITHM":
            "how the passwords are hashed is said by --hash-algo and its companions",
    ]
}

/// What a server says about its accounts: `GET /.accounts/realm.json`.
struct RealmDescription {
    /// nil when it tells none.
    let project: String?
    /// What who signs in can bring; nil of an older server, which does not tell it.
    let taken: TakenSignIn?

    /// - Throws: `CommandError` when the server refuses.
    static func of(_ database: RemoteDatabase) throws(CommandError) -> RealmDescription {
        let body = try AccountService.answer(of: database, .get, "/.accounts/realm.json")
        let realm = try AccountService.tree(body, of: database)
        var methods: Set<String> = []
        realm.member("signIn").visitChildren { _, method in
            if let name = method.string { methods.insert(name) }
            return true
        }
        let providers = realm.member("providers").string
        return RealmDescription(
            project: realm.member("project").string,
            taken: providers.map { TakenSignIn(methods: methods, takesProviders: $0 == "any") }
        )
    }
}
