import DatabaseCore
import FileRules
import FileRulesTools
import JSONTree
import RulesTools
import SecurityRules
import Transport

/// What an administrator's request brings in its body.
///
/// Unless it is small it is read only when an administrator sent it (`RequestService.admitsFirst`); neither must hold the loop.
enum AdminBody: Sendable {
    case rules(RulesChange)
    /// Rules for files.
    case fileRules(RulesChange)
    /// Rules to be kept under this name.
    case ruleset(id: String)
    /// Rules for files to be kept under this name.
    case fileRuleset(id: String)
    /// Which of them is tried.
    case fileLabels
    case setting(ValueSetting, author: String)
    /// A request to be tried out, and whether it is answered in words. One for a file means this bucket and time when it
    /// says none.
    case simulation(isAnsweredInWords: Bool, bucket: String?, now: Timestamp)
    /// `"off"`, `"refused"` or `"all"`.
    case inspectionLevel
    /// A form of this type, whose first file goes to a location.
    case upload(WriteTarget, type: String)

    /// Bytes up to which a body is read on the loop: of rules, which take the longest, some milliseconds.
    static let loopByteCount = 4 * 1024

    /// Bytes that the value of a setting may have.
    static let settingByteCount = 64 * 1024

    /// What a body asks for: an operation of the engine, rules for files, or a request for a file to be tried.
    enum Content: Sendable {
        case operation(Request.Operation)
        case fileRules(FileRulesAsk)
        case fileSimulation(FileSimulation, isAnsweredInWords: Bool)
    }

    /// What is asked for. Pure, any thread may do it.
    func content(_ body: [UInt8]) throws(AdminBodyFault) -> Content {
        switch self {
        case .fileRules(let change):
            return .fileRules(.replace(try Self.fileRules(body), change))
        case .fileRuleset(let id): return .fileRules(.store(id: id, try Self.fileRules(body)))
        case .fileLabels: return .fileRules(.label(canary: try Self.fileCanary(body)))
        case .simulation(let isAnsweredInWords, let bucket, let now):
            do throws(SimulationBodyError) {
                return try Self.simulation(body, isAnsweredInWords, bucket, now)
            } catch { throw .simulation(error) }
        case .rules, .ruleset, .setting, .inspectionLevel, .upload:
            return .operation(try operation(body))
        }
    }

    private static func simulation(
        _ body: [UInt8],
        _ isAnsweredInWords: Bool,
        _ bucket: String?,
        _ now: Timestamp
    ) throws(SimulationBodyError) -> Content {
        if FileCaseFile.isMeant(body) {
            let simulation = try FileSimulation(body: body, bucket: bucket, now: now)
            return .fileSimulation(simulation, isAnsweredInWords: isAnsweredInWords)
        }
        var request = try SimulationRequest(body: body)
        request.isAnsweredInWords = isAnsweredInWords
        return .operation(.simulate(request))
    }

    private func operation(_ body: [UInt8]) throws(AdminBodyFault) -> Request.Operation {
        switch self {
        case .rules(let change): return .putRules(try Self.rules(body), change)
        case .ruleset(let id): return .storeRuleset(id: id, try Self.rules(body))
        case .setting(let setting, let author):
            return try Self.operation { () throws(BadRequest) in
                guard body.count <= Self.settingByteCount else {
                    throw BadRequest("A setting has at most \(Self.settingByteCount) bytes")
                }
                return try Request.Operation(setting: setting, body, author: author)
            }
        case .inspectionLevel:
            return try Self.operation { () throws(BadRequest) in
                .setInspection(try InspectionLevel(body: body))
            }
        case .upload(let target, let type):
            return try Self.operation { () throws(BadRequest) in
                .put(target, try Draft(upload: body, type: type))
            }
        case .fileRules, .fileRuleset, .fileLabels, .simulation:
            preconditionFailure("what is no operation of the engine has a reader of its own")
        }
    }

    private static func operation(
        _ read: () throws(BadRequest) -> Request.Operation
    ) throws(AdminBodyFault) -> Request.Operation {
        do throws(BadRequest) { return try read() } catch { throw .request(error) }
    }

    private static func text(_ body: [UInt8]) throws(AdminBodyFault) -> String {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .request(BadRequest("The rules are not UTF-8 text."))
        }
        return text
    }

    private static func fileRules(_ body: [UInt8]) throws(AdminBodyFault) -> FileRuleset {
        let text = try text(body)
        do throws(RulesError) { return try FileRuleset.load(text) } catch { throw .rules(error) }
    }

    /// The label of rules for files.
    private static func fileCanary(_ body: [UInt8]) throws(AdminBodyFault) -> String? {
        do throws(BadRequest) {
            let labels = try RulesetLabels(settingBody: body)
            guard labels.stable == nil else {
                throw BadRequest(
                    "Rules for files have no label 'stable': PUT /.settings/rules.json?service=files puts them in force"
                )
            }
            return labels.canary
        } catch { throw .request(error) }
    }

    private static func rules(_ body: [UInt8]) throws(AdminBodyFault) -> Ruleset {
        let text = try text(body)
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
        case .request(let error): .bad(error)
        case .rules(let error): .badRules(error)
        case .simulation(let error): .json(error.json(), status: 400)
        }
    }
}

extension AdminService {
    /// Reads an administrator's body, away from the loop unless it is small, and submits what it asks for.
    func read(_ kind: AdminBody, _ pending: PendingExchange) {
        let body = pending.exchange.takeBody()
        let read: @Sendable () -> Result<AdminBody.Content, AdminBodyFault> = {
            Result { () throws(AdminBodyFault) in try kind.content(body) }
        }
        let submit: @Sendable @LoopActor (Result<AdminBody.Content, AdminBodyFault>) -> Void = {
            [self] outcome in
            switch outcome {
            case .success(.operation(let operation)): self.submit(operation, pending)
            case .success(.fileRules(let ask)):
                pending.subject = .fileRules(ask)
                self.submit(.inspect, pending)
            case .success(.fileSimulation(let simulation, let isAnsweredInWords)):
                pending.subject = .fileSimulation(simulation, isAnsweredInWords: isAnsweredInWords)
                self.submit(.inspect, pending)
            case .failure(let fault): finish(pending, fault.answer)
            }
        }
        if body.count <= AdminBody.loopByteCount {
            submit(read())
        } else if !readAway(body.count, of: pending.exchange, read, then: submit) {
            finish(pending, RequestService.tooManyBodies)
        }
    }
}
