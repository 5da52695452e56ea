import DatabaseCore
import EventProtocol
import JSONTree
import RulesCases
import SecurityRules
import Transport

/// What an administrator's request brings in its body.
///
/// It is read before anybody knows who sent it, so it must not hold the loop whatever it is.
enum AdminBody: Sendable {
    case rules(isDryRun: Bool)
    /// Rules to be kept under this name.
    case ruleset(id: String)
    case setting(SettingsRoute)
    case simulation

    /// Bytes up to which a body is read on the loop: of rules, which take the longest, some milliseconds.
    static let loopByteCount = 4 * 1024

    /// Bytes that the value of a setting may have.
    static let settingByteCount = 64 * 1024

    /// The operation that is asked for. Pure, any thread may do it.
    func operation(_ body: [UInt8]) throws(AdminBodyFault) -> Request.Operation {
        switch self {
        case .rules(let isDryRun): return .putRules(try Self.rules(body), isDryRun: isDryRun)
        case .ruleset(let id): return .storeRuleset(id: id, try Self.rules(body))
        case .setting(let route):
            do throws(BadRequest) {
                guard body.count <= Self.settingByteCount else {
                    throw BadRequest("A setting has at most \(Self.settingByteCount) bytes")
                }
                return try Request.Operation(setting: route, body)
            } catch {
                throw .request(error)
            }
        case .simulation:
            do throws(SimulationBodyError) {
                return .simulate(try SimulationRequest(body: body))
            } catch {
                switch error {
                case .malformed(let fault): throw .request(BadRequest(fault.description))
                case .rules(let faults, _): throw .rules(faults)
                }
            }
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

    var answer: HTTPResponse {
        switch self {
        case .request(let error): RESTAnswer.bad(error)
        case .rules(let error): RESTAnswer.badRules(error)
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
        } else if !readAway(body.count, read, then: submit) {
            finish(pending, RESTAnswer.error(503, "Too many large bodies are being read."))
        }
    }
}
