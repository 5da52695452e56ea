import DatabaseCore
import JSONTree
import Transport

/// What tools that look at all databases ask for, and the form they upload.
extension Server {
    /// `/.inspect/databases.json`: `[{"name": ...}, ...]`, whatever `ns` says.
    ///
    /// Open in development, as tools ask for it without a credential; else for admins.
    func listDatabases(_ exchange: HTTPExchange) {
        guard Route.databases.methods?.contains(exchange.head.method) == true else {
            answer(exchange, methodNotAllowed(.databases))
            return
        }
        guard configuration.mode == .development else {
            askForAll(exchange, .databases, .databases)
            return
        }
        ask(.databases, of: anyDatabase) { [self] response in
            guard case .databases(let databases) = response else {
                preconditionFailure("an admin may know the names of the databases")
            }
            answer(exchange, RESTAnswer.databases(databases))
        }
    }

    /// One that is always there, for what concerns none.
    private var anyDatabase: DatabaseID { DatabaseID(configuration.databases[0].name.text) }

    /// Asks the engine, for an admin, what concerns no single database.
    func askForAll(_ exchange: HTTPExchange, _ operation: Request.Operation, _ route: Route) {
        guard route.methods?.contains(exchange.head.method) == true else {
            answer(exchange, methodNotAllowed(route))
            return
        }
        do throws(BadRequest) {
            let parameters = try RESTParameters(exchange.head, "GET")
            let pending = PendingExchange(exchange, parameters, .root)
            submit(operation, pending, anyDatabase, isForAdmins: true)
        } catch {
            answer(exchange, RESTAnswer.bad(error))
        }
    }

    /// `POST /path/.upload`: puts the first file of a form in place of the node at the path.
    ///
    /// For admins, whatever the rules say.
    func upload(_ pending: PendingExchange, _ database: DatabaseID) {
        let exchange = pending.exchange
        let type = exchange.head.header("content-type") ?? ""
        let body = exchange.takeBody()
        let read: @Sendable () -> Result<Draft, BadRequest> = {
            Result { () throws(BadRequest) in try Draft(upload: body, type: type) }
        }
        let submit: @Sendable @LoopActor (Result<Draft, BadRequest>) -> Void = { [self] outcome in
            switch outcome {
            case .success(let draft):
                let target = WriteTarget(path: pending.path, isPriority: false)
                self.submit(.put(target, draft), pending, database, isForAdmins: true)
            case .failure(let error): finish(pending, RESTAnswer.bad(error))
            }
        }
        if body.count < Server.readAwayByteCount {
            submit(read())
        } else if !readAway(body.count, of: exchange, read, then: submit) {
            finish(pending, Server.tooManyBodies)
        }
    }
}

extension Draft {
    /// Reads the first file of a form.
    fileprivate init(upload body: [UInt8], type: String) throws(BadRequest) {
        let boundary = try MultipartBody.boundary(in: type)
        let file = Array(body[try MultipartBody.firstFile(in: body, boundary: boundary)])
        do throws(JSONError) { self = try Draft(json: file) } catch {
            throw BadRequest(error, in: file)
        }
    }
}

extension RESTAnswer {
    static func databases(_ databases: [DatabaseID]) -> HTTPResponse {
        var body: [UInt8] = [UInt8(ascii: "[")]
        for (index, database) in databases.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += Array("{\"name\":".utf8)
            appendJSONString(database.name, to: &body)
            body.append(UInt8(ascii: "}"))
        }
        body.append(UInt8(ascii: "]"))
        return json(body)
    }
}
