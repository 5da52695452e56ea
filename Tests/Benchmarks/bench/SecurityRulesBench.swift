import JSONTree
import RulesTools
import SecurityRules

/// Whole decisions: constant rules, and rules like those of a party service.
func benchSecurityRules(_ figures: Figures) throws {
    try benchConstantRules(figures)
    try benchPartyRules(figures)
    try benchPatterns(figures)
    try benchLoading(figures)
    try benchCoverage(figures)
    try benchBudget(figures)
}

private let partyRules = """
    {"rules": {
      "users": {"$uid": {
        ".read": "auth != null && auth.uid == $uid", ".write": "auth != null && auth.uid == $uid",
        "friends": {"$friend": {".validate": "newData.isBoolean()"}},
        "photos": {"$photo": {".validate": "newData.val() == true"}} }},
      "messages": {"$receiver": {
        ".read": "auth != null && $receiver == auth.uid",
        "$message": {
          ".write": "auth != null && (!data.exists() ? newData.child('from').val() === auth.uid
                     : data.child('from').val() === auth.uid || data.child('to').val() === auth.uid)",
          ".validate": "newData.hasChildren(['from', 'to', 'messageType', 'messageContent'])",
          "from": {".validate": "newData.val() === auth.uid"},
          "to": {".validate": "newData.val() === $receiver"},
          "messageType": {".validate": "newData.val().matches(/^(friend_request|party_invite|image_uploaded)$/)"},
          "messageContent": {".validate": "newData.val().matches(/^(invite|accept|refuse)$/)"},
          "party": {".validate": "newData.isString()"}, "photo": {".validate": "newData.isString()"},
          "$other": {".validate": false} }}},
      "parties": {"$party": {
        ".read": "auth != null && (data.child('owner').val() === auth.uid ||
                  (data.child('guests').hasChild(auth.uid) && data.child('guests').child(auth.uid).val() != false))",
        ".write": "auth != null && (!data.exists() ? newData.child('owner').val() === auth.uid
                   : data.child('owner').val() === auth.uid)",
        ".validate": "newData.hasChildren(['owner', 'description', 'date'])",
        "owner": {".validate": "newData.val() === auth.uid"},
        "description": {".validate": "newData.isString() && newData.val().length <= 2000"},
        "date": {".validate": "newData.isNumber()"},
        "guests": {"$guest": {".validate": "newData.val() == 'invited' || newData.isBoolean()"}},
        "photos": {"$photo": {".validate": "newData.val() == true"}},
        "$other": {".validate": false} }} }}
    """

private let partyData = #"""
    {"parties":{"-Nparty00000000000001":{"owner":"owner-of-the-party-0000000001","description":"A garden party",
      "date":1712000000000,"guests":{"guest-of-the-party-0000000001":true,"guest-of-the-party-0000000002":"invited"}}}}
    """#

/// What a decision may note down; the first is a server without inspection.
private let recordings: [(name: String, recording: Recording)] = [
    ("", Recording()), (", paths recorded", .paths), (", traced", .trace),
    (", traced with values", .values),
]

/// Makes sure a figure is of what its name says.
private func check(_ isAllowed: Bool, _ figure: String) {
    if !isAllowed { print("bench: \(figure) is refused") }
}

private func request(_ root: Node, uid: String) throws -> RulesRequest {
    var auth = Node.absent
    auth.set(Node(string: uid), at: try Path("uid"))
    auth.set(Node(string: "password"), at: try Path("provider"))
    auth.set(Node(string: "\(uid)@example.org"), at: try Path("token/email"))
    return RulesRequest(
        root: root,
        auth: AuthVariable(auth),
        now: Timestamp(milliseconds: 1_712_000_000_000)
    )
}

private func benchConstantRules(_ figures: Figures) throws {
    let request = try request(.absent, uid: "guest-of-the-party-0000000001")
    let path = try Path("messages/room/-Nmessage0000000001")
    let deepText = #"{"rules":{"messages":{"$room":{".read":true,".write":true}}}}"#
    for (name, rules) in [("at the root", Ruleset.open), ("two keys down", try .load(deepText))] {
        let count = 1_000_000
        var allowed = 0
        figures.measure("read under a constant rule \(name)", count: count) {
            for _ in 0..<count where rules.decideRead(path, query: nil, request).isAllowed {
                allowed += 1
            }
        }
        let targets = [WriteTarget(path: path)]
        figures.measure("write under a constant rule \(name)", count: count) {
            for _ in 0..<count
            where rules.decideWrite(targets, newRoot: .absent, request).isAllowed {
                allowed += 1
            }
        }
        check(allowed == 2 * count, name)
    }
}

private func benchPartyRules(_ figures: Figures) throws {
    let rules = try Ruleset.load(partyRules)
    let root = try Node(json: partyData)
    let guest = try request(root, uid: "guest-of-the-party-0000000001")
    let owner = try request(root, uid: "owner-of-the-party-0000000001")
    let party = try Path("parties/-Nparty00000000000001")
    let count = 200_000

    for (name, recording) in recordings {
        var allowed = 0
        let count = recording.isSubset(of: .paths) ? count : count / 10
        figures.measure("party read by a guest\(name)", count: count) {
            for _ in 0..<count
            where rules.decideRead(party, query: nil, guest, recording: recording).isAllowed {
                allowed += 1
            }
        }
        check(allowed == count, "party read")
    }
    try measureWrite(
        figures,
        "message put into an inbox",
        rules,
        guest,
        count,
        "messages/owner-of-the-party-0000000001/-Nmessage0000000000001",
        #"""
        {"from":"guest-of-the-party-0000000001","to":"owner-of-the-party-0000000001",
         "messageType":"party_invite","messageContent":"accept","party":"-Nparty00000000000001","photo":"null"}
        """#
    )
    try measureWrite(
        figures,
        "guest's answer written by the owner",
        rules,
        owner,
        count,
        "parties/-Nparty00000000000001/guests/guest-of-the-party-0000000002",
        "true"
    )
    try measureWrite(
        figures,
        "party written by its owner",
        rules,
        owner,
        count,
        "parties/-Nparty00000000000002",
        #"{"owner":"owner-of-the-party-0000000001","description":"Another","date":1712000000001}"#
    )
}

private func measureWrite(
    _ figures: Figures,
    _ name: String,
    _ rules: Ruleset,
    _ request: RulesRequest,
    _ count: Int,
    _ path: String,
    _ json: String
) throws {
    let target = try WriteTarget(path)
    var newRoot = request.root
    newRoot.set(try Node(json: json), at: target.path)
    for (suffix, recording) in recordings {
        var allowed = 0
        let count = recording.isEmpty ? count : count / 10
        figures.measure(name + suffix, count: count) {
            for _ in 0..<count {
                let decision = rules.decideWrite(
                    [target],
                    newRoot: newRoot,
                    request,
                    recording: recording
                )
                if decision.isAllowed { allowed += 1 }
            }
        }
        check(allowed == count, name)
    }
}

private func benchPatterns(_ figures: Figures) throws {
    for (name, pattern, text) in [
        ("date", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "2024-04-01"),
        ("address", "^[A-Z0-9._%+-]+@[A-Z0-9.-]+\\\\.[A-Z]{2,4}$", "ann.smith@mail.example.org"),
        ("1 KB of characters", "^[a-z]{1,2000}$", String(repeating: "k", count: 1_000)),
    ] {
        let rules = try Ruleset.load(
            "{\"rules\":{\".read\":\"data.val().matches(/\(pattern)/i)\"}}"
        )
        let request = try request(Node(string: text), uid: "ann")
        let count = text.utf8.count > 100 ? 1_000 : 100_000
        var allowed = 0
        figures.measure("pattern of a \(name)", count: count) {
            for _ in 0..<count where rules.decideRead(.root, query: nil, request).isAllowed {
                allowed += 1
            }
        }
        check(allowed == count, name)
    }
}

private func benchLoading(_ figures: Figures) throws {
    let count = 200
    var loaded = 0
    figures.measure("load of the party rules", count: count) {
        for _ in 0..<count {
            do { loaded += try Ruleset.load(partyRules).text.isEmpty ? 0 : 1 } catch {
                print("bench: \(error)")
            }
        }
    }
    check(loaded == count, "load")
}

/// What the first decision under new rules costs where decisions are counted.
private func benchCoverage(_ figures: Figures) throws {
    let rule = "\".write\":\"auth != null && newData.child('a').val() == data.val() + 1\""
    let places = (0..<2_700).map { "\"k\($0)\":{\(rule)}" }.joined(separator: ",")
    let rules = try Ruleset.load("{\"rules\":{\(places)}}")
    let start = Figures.threadTime()
    let coverage = Coverage(rules)
    figures.report(
        "coverage of \(rules.text.utf8.count) bytes begun",
        (Figures.threadTime() - start) / 1e6,
        "ms"
    )
    check(coverage.summary.consulted == 0, "coverage")
}

/// How long a request may hold the loop: each runs until it has no steps left, or 1,000 times.
private func benchBudget(_ figures: Figures) throws {
    let text = String(repeating: "a", count: 100_000)
    for (name, source) in [
        ("replacing", "data.val().replace('a', 'b') == 'c'"),
        ("searching", "data.val().contains('aaaaaaaaaaaaaaab')"),
        ("replacing by more", "data.val().replace('a', 'bb') == 'c'"),
        ("ordering", "data.val() < data.val()"),
        ("equality", "data.val() != data.val()"),
        ("changing case", "data.val().toUpperCase() == 'c'"),
        ("joining", "data.val() + 'b' == 'c'"),
        ("measuring", "data.val().length == 5"),
        ("writing numbers", "'' + now + now + now == 'c'"),
        ("children by path", "data.child(data.val().replace('a', 'a/')).exists()"),
        ("matching a small pattern", "data.val().matches(/^[a-z]*b$/)"),
        ("matching a large pattern", "data.val().matches(/^((a{1,60}){1,60})$/)"),
    ] {
        // False each time, so that none is left out.
        let chain = Array(repeating: source, count: 1_000).joined(separator: " || ")
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(chain)\"}}")
        let request = try request(Node(string: text), uid: "ann")
        let start = Figures.threadTime()
        _ = rules.decideRead(.root, query: nil, request)
        figures.report("request of much \(name)", (Figures.threadTime() - start) / 1e6, "ms")
    }
    try benchBudgetOfChildren(figures)
    try benchBudgetOfLongText(figures)
}

/// The same for many small values: what one operation costs however short its text is.
private func benchBudgetOfChildren(_ figures: Figures) throws {
    var newRoot = Node.absent
    for index in 0..<100_000 { newRoot.set(Node(string: "é\(index)"), at: try Path("k\(index)")) }
    let target = try WriteTarget("/")
    let request = try request(.absent, uid: "ann")
    for (name, source) in [
        ("replacing", "newData.val().replace('1', '2') != 'c'"),
        ("changing case", "newData.val().toUpperCase() != 'c'"),
        ("writing numbers", "newData.val() + now != 'c'"),
        ("a small pattern", "newData.val().matches(/^.*$/)"),
        ("a large pattern", "newData.val().matches(/^(([a-z]{1,60}){1,60}|.*)$/)"),
        ("children by path", "!newData.child('a/b/c/' + $k).exists()"),
        ("a place without rules", "true"),
    ] {
        let rules = try Ruleset.load(
            "{\"rules\":{\".write\":true,\"$k\":{\".validate\":\"\(source)\",\"x\":{\"y\":{\".validate\":false}}}}}"
        )
        for recording in [Recording(), .values] {
            let start = Figures.threadTime()
            _ = rules.decideWrite([target], newRoot: newRoot, request, recording: recording)
            let ms = (Figures.threadTime() - start) / 1e6
            figures.report(
                "100,000 children: \(name)\(recording.isEmpty ? "" : ", recorded")",
                ms,
                "ms"
            )
        }
    }
}

/// The same for one text of 5 MB, and once each.
private func benchBudgetOfLongText(_ figures: Figures) throws {
    let text = Node(string: String(repeating: "x", count: 5_000_000))
    let accents = Node(string: String(repeating: "ΐ", count: 40_000))
    for (name, source) in [
        ("replacing", "data.val().replace('x', 'yy').length < 5"),
        ("replacing by much", "data.val().replace('x', 'xx').replace('xx', data.val()) == 'c'"),
        ("changing case", "data.val().toLowerCase() == 'c'"),
        ("joining", "data.val() + data.val() == 'c' || data.val() + data.val() == 'd'"),
        ("replacing nothing", "data.val().replace('z', 'y') == 'c'"),
        ("a pattern", "data.val().matches(/y/)"),
        ("searching itself", "data.val().contains(data.val() + 'y')"),
        ("a path", "data.child(data.val()).exists()"),
        ("ordering", "data.val() < data.val()"),
    ] {
        for (size, root) in [("5 MB", text), ("80 KB", accents)] {
            let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(source)\"}}")
            let request = try request(root, uid: "ann")
            let start = Figures.threadTime()
            _ = rules.decideRead(.root, query: nil, request, recording: .paths)
            figures.report("\(size): \(name)", (Figures.threadTime() - start) / 1e6, "ms")
        }
    }
}
