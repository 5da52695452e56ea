import HTTPClient
import JSONTree

/// A server as its administrator reaches it: its own addresses, and those of its accounts.
struct AdministeredServer {
    let database: RemoteDatabase
    /// The project of the accounts; nil for the server's own.
    private let chosenProject: String?

    init(_ database: RemoteDatabase, project: String? = nil) {
        self.database = database
        chosenProject = project
    }

    /// The project of the accounts, which the server must reveal.
    func project() throws(CommandError) -> String {
        if let chosenProject { return chosenProject }
        return try project(realm())
    }

    /// The same for a server that has described itself.
    func project(_ realm: RealmDescription) throws(CommandError) -> String {
        if let project = chosenProject ?? realm.project { return project }
        throw .failed("\(database.origin) says no project: is it an older server?")
    }

    /// Calls a method of the project, such as `accounts:lookup`, by GET without a body; returns the object of the answer.
    func call(
        _ name: String,
        of project: String,
        _ body: JSONValue? = nil,
        parameters: Parameters = []
    ) throws(CommandError) -> [UInt8] {
        let segment = PercentCoding.encode(project)
        return try answer(
            body == nil ? .get : .post,
            "/identitytoolkit.googleapis.com/v1/projects/\(segment)/\(name)",
            parameters,
            json: body?.text
        )
    }

    /// Asks one of the addresses that answer an object; returns its text.
    func answer(
        _ method: HTTPRequest.Method,
        _ resource: String,
        _ parameters: Parameters = [],
        json: [UInt8]? = nil
    ) throws(CommandError) -> [UInt8] {
        let request = database.request(method, resource: resource, parameters, json: json)
        let response = try database.send(request)
        guard response.isSuccess else { throw refusal(request, response) }
        guard response.body.first(where: { $0 > 32 }) == UInt8(ascii: "{") else {
            throw .failed("\(database.origin) has no \(resource): is it an older server?")
        }
        return response.body
    }

    /// The text of an answer as a tree.
    func tree(_ body: [UInt8]) throws(CommandError) -> Node {
        if let tree = Node(answer: body) { return tree }
        throw .failed("the answer of \(database.origin) is not JSON")
    }

    /// The text of a refusal, with a remedy if one is known.
    private func refusal(_ request: HTTPRequest, _ response: HTTPResponse) -> CommandError {
        let plain = database.refusal(request, response)
        let error = Node(answer: response.body)?.member("error")
        guard let message = error?.member("message").string else { return plain }
        let code = message.prefix { $0 != " " && $0 != ":" }
        var text = "\(database.origin) refuses: \(message)"
        if let words = Self.explanations[String(code)] { text += " (\(words))" }
        // These concern the credential, as with data.
        if response.status == 401 || response.status == 403 {
            text += "; HEARTH_TOKEN or --admin-secret-file say who asks"
        }
        return .failed(text)
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
            "how the passwords are hashed is set by --hash-algo and its companions",
        "MISSING_HASH_ALGORITHM":
            "how the passwords are hashed is set by --hash-algo and its companions",
    ]
}

/// A server's facts about its accounts: `GET /.accounts/realm.json`.
struct RealmDescription {
    /// nil if the server does not give it.
    let project: String?
    /// The sign-in data that the server accepts; nil for an older server, which does not give it.
    let taken: TakenSignIn?
}

extension AdministeredServer {
    /// What the server says of its accounts.
    func realm() throws(CommandError) -> RealmDescription {
        let realm = try tree(answer(.get, "/.accounts/realm.json"))
        let methods = Set(realm.member("signIn").elements.compactMap(\.string))
        let providers = realm.member("providers").string
        return RealmDescription(
            project: realm.member("project").string,
            taken: providers.map { TakenSignIn(methods: methods, takesProviders: $0 == "any") }
        )
    }
}
