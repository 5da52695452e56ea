import Foundation
import JSONTree
import SyncCore
import WireProtocol

/// Plays a scenario: gives a client what happens, and writes down what it does.
///
/// Unless the scenario begins with `unconnected`, the client is connected and no one is signed in.
/// What the server answers to `n` and `s` is always ok, and is not written.
///
///     unconnected | stored | restored write 1 set /a 1 | restored listen /a {"b":1} active
///     observe 1 value,added /a {"l":2,"vf":"l"}       stop 1        keep /a        unkeep /a
///     set #7 /a/b 1          update #7 /a {"b":1}     get #7 /a     set /a/.priority 2
///     transact #7 /a add 1   transact #7 hidden /a put {"b":1}
///     later-set #7 /a 1      later-update #7 /a {"b":1}             later-cancel #7 /a
///     purge                  offline                  online
///     opened    closed    hello 20000    wait 1000    token abc    account ann abc    account - -
///     < here {"b":1}         answers the oldest listen with data and ok, the oldest get with data
///     < ok  < ok no_index  < refuse permission_denied  < echo      the oldest request
///     < put /a 1 tag 1       < merge /a {"b":1}       < cancel /a   < revoke expired_token
///     < shutdown text        < raw {"t":"d"}          < part ...    a frame as it is
struct ScenarioPlayer {
    var lines: [String] = []
    private var setup = Setup()
    private(set) var client: SyncClient?
    var now: Int64 = 10_000
    var socket: SocketID?
    private var wakeTime: Int64?
    /// Requests without an answer, oldest first.
    private var requests: [SentRequest] = []
    private let runs = TransactionRuns()
    let words: ScenarioWords

    private struct Setup {
        var isConnected = true
        var isStored = false
        var restored: StoredState?
    }

    /// What the client has asked for.
    struct SentRequest {
        let number: Int
        let action: String
        let body: [String: Any]
    }

    /// Plays a scenario and gives its lines as they should be.
    static func play(_ scenario: Scenario) throws -> [String] {
        var player = ScenarioPlayer(words: ScenarioWords(scenario.lines))
        for line in scenario.lines where !line.hasPrefix("  ") {
            player.lines.append(line)
            try player.happens(line)
        }
        return player.lines
    }

    private init(words: ScenarioWords) {
        self.words = words
    }

    private mutating func happens(_ line: String) throws {
        var line = ScenarioLine(line)
        let verb = line.word()
        switch verb {
        case "unconnected": setup.isConnected = false
        case "stored": setup.isStored = true
        case "restored":
            var state = setup.restored ?? StoredState()
            try line.restore(&state)
            setup.restored = state
            setup.isStored = true
        default:
            try begin()
            try happens(verb, &line)
        }
    }

    /// Makes the client at the first line that is no setup.
    private mutating func begin() throws {
        if client != nil { return }
        let options = SyncOptions(
            address: LinkAddress(host: "localhost:9000", isSecure: false, namespace: "demo"),
            agent: "sdk.swift.1-0-0",
            seed: 1,
            isStored: setup.isStored,
        )
        client = SyncClient(options)
        let count = lines.count
        if let restored = setup.restored { step(.restored(restored)) }
        guard setup.isConnected else { return }
        // A listen that is gone before there is a connection makes the client connect, and no more.
        let target = ListenTarget(path: try Path("/nothing"))
        step(.call(.keepSynced(target, true)))
        step(.call(.keepSynced(target, false)))
        step(.tokenFetched(.noUser))
        guard let socket else { throw ScenarioError.notUnderstood("no socket is opened") }
        step(.opened(socket))
        hello()
        // What a client does to connect has scenarios of its own.
        let kept = lines[count...].filter { setup.restored != nil && $0.hasPrefix("  > ") }
        lines = lines.prefix(count) + kept.filter { $0 != "  > s" }
    }

    private mutating func happens(_ verb: String, _ line: inout ScenarioLine) throws {
        switch verb {
        case "opened":
            if let socket { step(.opened(socket)) }
        case "closed":
            requests = []
            if let socket { step(.closed(socket, reason: "gone")) }
        case "hello": hello(Int64(line.rest) ?? now)
        case "wait": try wait(Int64(line.rest) ?? 0)
        case "token":
            switch line.rest {
            case "-": step(.tokenFetched(.noUser))
            case "unavailable": step(.tokenFetched(.unavailable("no network")))
            default: step(.tokenFetched(.token(line.rest)))
            }
        case "account":
            let account = line.word()
            let token = line.word()
            step(
                .credentialChanged(
                    token: token == "-" ? nil : token,
                    account: account == "-" ? nil : account
                )
            )
        case "<": try server(&line)
        default:
            guard let call = try line.call(verb, runs) else {
                throw ScenarioError.notUnderstood(verb)
            }
            step(.call(call))
        }
    }

    // MARK: The server

    private mutating func hello(_ time: Int64? = nil) {
        let body = #"{"ts":\#(time ?? now),"v":"5","h":"localhost:9000","s":"session"}"#
        receive(#"{"t":"c","d":{"t":"h","d":\#(body)}}"#)
    }

    private mutating func server(_ line: inout ScenarioLine) throws {
        let verb = line.word()
        switch verb {
        case "ok": try answer("ok", line.rest.isEmpty ? "{}" : #"{"w":["\#(line.rest)"]}"#)
        case "refuse": try answer(line.rest, #""Permission denied""#)
        case "here": try here(line.rest)
        case "echo": try echo()
        case "put", "merge":
            let path = line.word()
            let (json, tag) = line.tagged()
            push(verb == "put" ? "d" : "m", path, json, tag)
        case "cancel":
            let path = line.word()
            let query = line.rest.isEmpty ? "" : #","q":[\#(line.rest)]"#
            receive(#"{"t":"d","d":{"a":"c","b":{"p":"\#(path)"\#(query)}}}"#)
        case "revoke":
            receive(#"{"t":"d","d":{"a":"ac","b":{"s":"\#(line.rest)","d":"no longer"}}}"#)
        case "shutdown": receive(#"{"t":"c","d":{"t":"s","d":"\#(line.rest)"}}"#)
        case "reset": receive(#"{"t":"c","d":{"t":"r","d":"\#(line.rest)"}}"#)
        case "debug": receive(#"{"t":"d","d":{"a":"sd","b":{"msg":"\#(line.rest)"}}}"#)
        case "raw": receive(line.rest)
        default: throw ScenarioError.notUnderstood("< " + verb)
        }
    }

    private mutating func oldest() throws -> SentRequest {
        if requests.isEmpty { throw ScenarioError.notUnderstood("nothing to answer: \(lines)") }
        return requests.removeFirst()
    }

    private mutating func answer(_ status: String, _ data: String) throws {
        reply(try oldest().number, status, data)
    }

    private mutating func reply(_ number: Int, _ status: String, _ data: String) {
        receive(#"{"t":"d","d":{"r":\#(number),"b":{"s":"\#(status)","d":\#(data)}}}"#)
    }

    private mutating func here(_ json: String) throws {
        let request = try oldest()
        if request.action == "g" { return reply(request.number, "ok", json) }
        let path = request.body["p"] as? String ?? ""
        if json != "null" { push("d", path, json, request.body["t"].map { "\($0)" }) }
        reply(request.number, "ok", "{}")
    }

    private mutating func echo() throws {
        let request = try oldest()
        let path = request.body["p"] as? String ?? ""
        let action = request.action == "m" ? "m" : "d"
        push(action, path, ScenarioWords.text(request.body["d"] ?? NSNull()), nil)
        reply(request.number, "ok", #""""#)
    }

    private mutating func push(_ action: String, _ path: String, _ json: String, _ tag: String?) {
        let path = path.hasPrefix("/") ? String(path.dropFirst()) : path
        let tag = tag.map { #","t":\#($0)"# } ?? ""
        receive(#"{"t":"d","d":{"a":"\#(action)","b":{"p":"\#(path)","d":\#(json)\#(tag)}}}"#)
    }

    private mutating func receive(_ text: String) {
        guard let socket else { return }
        step(.received(socket, frame: Array(text.utf8)))
    }

    // MARK: Steps

    private mutating func wait(_ milliseconds: Int64) throws {
        let end = now + milliseconds
        var count = 0
        while let time = wakeTime, time <= end {
            count += 1
            if count > 100 { throw ScenarioError.notUnderstood("wakes without end") }
            now = max(now, time)
            wakeTime = nil
            step(.woke)
        }
        now = end
    }

    private mutating func step(_ input: Input) {
        var effects: [Effect] = []
        client?.step(input, now: Timestamp(milliseconds: now), effects: &effects)
        lines += runs.take()
        var reported: [String] = []
        var warned: [String] = []
        var stored: [String] = []
        var quiet: [Int] = []
        for effect in effects {
            switch effect {
            case .open(let id, let address):
                socket = id
                requests = []
                lines.append(words.opening(address))
            case .send(_, let frames):
                for request in words.requests(frames) {
                    lines.append(words.line(request))
                    if request.action == "n" || request.action == "s" {
                        quiet.append(request.number)
                    } else if request.number >= 0 {
                        requests.append(request)
                    }
                }
            case .close: lines.append("  closes")
            case .wake(let time): wakeTime = time?.milliseconds
            case .fetchToken(let isForced):
                lines.append(isForced ? "  fetches a new token" : "  fetches a token")
            case .tell(let observer, let event):
                reported.append("  \(observer.value) \(words.event(event))")
            case .finish(let call, let outcome):
                reported.append("  #\(call.value) \(words.outcome(outcome))")
            case .store(let change): stored.append("  \(words.change(change))")
            case .warn(.notConnected), .warn(.connectionLost): break
            case .warn(let warning): warned.append("  warns \(words.warning(warning))")
            }
        }
        lines += reported + warned + stored
        for number in quiet { reply(number, "ok", #""""#) }
    }
}

enum ScenarioError: Error {
    case notUnderstood(String)
}
