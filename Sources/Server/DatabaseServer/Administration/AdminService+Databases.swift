import DatabaseCore
import IdentityToolkit
import JSONTree
import Transport

/// What tools that look at all databases ask for, and the form they upload.
extension AdminService {
    /// `/.inspect/databases.json`: `[{"name": ...}, ...]`, whatever `ns` says.
    ///
    /// Open in development, as tools ask for it without a credential; else for admins.
    func listDatabases(_ exchange: HTTPExchange) {
        if exchange.head.method == "POST" { return makeDatabase(exchange) }
        guard configuration.mode == .development else {
            return askForAll(exchange, .databases)
        }
        server.ask(.databases, of: anyDatabase) { [self] response in
            guard case .databases(let databases) = response else {
                preconditionFailure("an admin may know the names of the databases")
            }
            answer(exchange, .databases(databases))
        }
    }

    /// One that is always there, for what concerns none.
    var anyDatabase: DatabaseID { DatabaseID(configuration.databases[0].name.text) }

    /// Asks the engine, for an admin, what concerns no single database.
    func askForAll(_ exchange: HTTPExchange, _ operation: Request.Operation) {
        let request = ResolvedRequest.of(exchange)
        do throws(BadRequest) {
            let parameters = try request.parameters.get()
            submit(operation, PendingExchange(exchange, request, parameters, anyDatabase))
        } catch {
            answer(exchange, .bad(error))
        }
    }

    /// `POST /path/.upload`: puts the first file of a form in place of the node at the path.
    ///
    /// For admins, whatever the rules say.
    func upload(_ pending: PendingExchange) {
        // The answer does not repeat the value.
        pending.parameters.print = .silent
        let type = pending.exchange.head.header("content-type") ?? ""
        read(.upload(pending.target, type: type), pending)
    }
}

extension Draft {
    /// Reads the first file of a form.
    init(upload body: [UInt8], type: String) throws(BadRequest) {
        let boundary = try MultipartBody.boundary(in: type)
        let file = Array(body[try MultipartBody.firstFile(in: body, boundary: boundary)])
        do throws(JSONError) { self = try Draft(json: file) } catch {
            throw BadRequest(error, in: file)
        }
    }
}

extension HTTPResponse {
    static func databases(_ databases: [DatabaseID]) -> HTTPResponse {
        json(of: .list(databases.map { ["name": .string($0.name)] }))
    }
}
