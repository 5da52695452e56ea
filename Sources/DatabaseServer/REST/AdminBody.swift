import DatabaseCore
import EventProtocol
import JSONTree
import RulesCases
import SecurityRules
import Transport

/// What an administrator's request brings in its body.
///
/// Unless it is small it is read only when an administrator sent it (`Server.admitsFirst`); neither must hold the loop.
enum AdminBody: Sendable {
    case rules(RulesChange)
    /// Rules to be kept under this name.
    case ruleset(id: String)
    case setting(SettingsRoute, author: String)
    /// A request to be tried out, and whether it is answered in words.
    case simulation(isAnsweredInWords: Bool)
    /// `"off"`, `"refused"` or `"all"`.
    case inspectionLevel

    /// Bytes up to which a body is read on the loop: of rules, which take the longest, some milliseconds.
    static let loopByteCount = 4 * 1024

    /// Bytes that the value of a setting may have.
    static let settingByteCount = 64 * 1024

    /// The operation that is asked for. Pure, any thread may do it.
    func operation(_ body: [UInt8]) throws(AdminBodyFault) -> Request.Operation {
        switch self {
        case .rules(let change): return .putRules(try Self.rules(body), change)
        case .ruleset(let id): return .storeRuleset(id: id, try Self.rules(body))
        case .setting(let route, let author):
            do throws(BadRequest) {
                guard body.count <= Self.settingByteCount else {
                    throw BadRequest("A setting has at most \(Self.settingByteCount) bytes")
                }
                return try Request.Operation(setting: route, body, author: author)
            } catch {
                throw .request(error)
            }
        case .inspectionLevel:
            do throws(BadRequest) {
                return .setInspection(try InspectionLevel(body: body))
            } catch {
                throw .request(error)
            }
        case .simulation(let isAnsweredInWords):
            do throws(SimulationBodyError) {
                var request = try SimulationRequest(body: body)
                request.isAnsweredInWords = isAnsweredInWords
                return .simulate(request)
            } catch { throw .simulation(error) }
        }
    }

    private static func rules(_ body: [UInt8]) throws(AdminBodyFault) -> Ruleset {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .request(BadRequest("The rules are not UTF-8 text."))
        }
        do throws(RulesError) { return try Ruleset.load(text) } catch { throw .rules(error) }
    }
}

/// Why such a body is of no use.
enum AdminBodyFault: Error, Sendable {
    case request(BadRequest)
    case rules(RulesError)
    case simulation(SimulationBodyError)

    var answer: HTTPResponse {
        switch self {
        case .request(let error): RESTAnswer.bad(error)
        case .rules(let error): RESTAnswer.badRules(error)
        case .simulation(let error): RESTAnswer.json(error.json(), status: 400)
        }
    }
}

extension Server {
    /// Reads an administrator's body, away from the loop unless it is small, and submits what it asks for.
    func read(_ kind: AdminBody, _ pending: PendingExchange, _ database: DatabaseID) {
        let body = pending.exchange.takeBody()
        let read: @Sendable () -> Result<Request.Operation, AdminBodyFault> = {
            Result { () throws(AdminBodyFault) in try kind.operation(body) }
        }
        let submit: @Sendable @LoopActor (Result<Request.Operation, AdminBodyFault>) -> Void = {
            [self] outcome in
            switch outcome {
            case .success(let operation):
                self.submit(operation, pending, database, isForAdmins: true)
            case .failure(let fault): finish(pending, fault.answer)
            }
        }
        if body.count <= AdminBody.loopByteCount {
            submit(read())
        } else if !readAway(body.count, of: pending.exchange, read, then: submit) {
            finish(pending, Server.tooManyBodies)
        }
    }
}
