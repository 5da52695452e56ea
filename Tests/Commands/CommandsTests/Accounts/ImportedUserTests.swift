import ArgumentParser
import JSONTree
import Testing

@testable import Commands

@Suite("imported and exported accounts")
struct ImportedUserTests {
    private static func sent(_ json: String) throws -> String {
        let item = UserObjects.Item(index: 4, line: 9, json: Array(json.utf8))
        let user = try ImportedUser(object: item)
        #expect(user.location == "users[4] (line 9)")
        return String(decoding: user.json, as: UTF8.self)
    }

    @Test(
        "are sent as requests have them",
        arguments: [
            (#"{"localId":"a","unknown":1}"#, #"{"localId":"a"}"#),
            (#"{"localId":"a","lastSignedInAt":"17"}"#, #"{"localId":"a","lastLoginAt":"17"}"#),
            (#"{"passwordHash":"a+/=","salt":"_-"}"#, #"{"passwordHash":"a-_=","salt":"_-"}"#),
            (#"{"email":null,"localId":"a"}"#, #"{"localId":"a"}"#),
            (
                #"{"passwordHash":"$argon2id$v=19$m=8,t=1,p=1$a+/b$c+/d"}"#,
                #"{"passwordHash":"$argon2id$v=19$m=8,t=1,p=1$a+/b$c+/d"}"#
            ),
            (#"{"mfaInfo":[{"a":1}]}"#, #"{"mfaInfo":[{"a":1}]}"#),
        ]
    )
    func objects(json: String, expected: String) throws {
        #expect(try Self.sent(json) == expected)
    }

    @Test(
        "with hashes that are invalid are reported",
        arguments: [
            #"{"passwordHash":"!!"}"#, #"{"salt":"a"}"#, #"{"passwordHash":{}}"#, #"{"a"}"#,
            #"{"salt":true}"#,
        ]
    )
    func faults(json: String) {
        #expect(throws: ImportedUser.Fault.self) { try Self.sent(json) }
    }

    @Test("of a row have what its columns say")
    func rows() throws {
        var cells = [String](repeating: "", count: 29)
        cells[0] = "u1"
        cells[2] = "true"
        cells[3] = "a+b/"
        cells[5] = " Ann "
        cells[7] = "g1"
        cells[9] = "G"
        cells[24] = "17"
        cells[26] = "true"
        let user = try ImportedUser(row: UserRows.Row(line: 3, cells: cells))
        #expect(user.location == "line 3")
        #expect(
            String(decoding: user.json, as: UTF8.self)
                == #"{"localId":"u1","emailVerified":true,"passwordHash":"a-b_","displayName":"Ann","lastLoginAt":"17","#
                + #""disabled":true,"providerUserInfo":[{"providerId":"google.com","rawId":"g1","displayName":"G"}]}"#
        )
        #expect(throws: ImportedUser.Fault.self) {
            try ImportedUser(row: UserRows.Row(line: 1, cells: ["a", "b"]))
        }
    }

    @Test("are exported in the form of Firebase's own tool, and taken back as they were")
    func exports() throws {
        let answer = #"""
            {"localId":"a","email":"a@b","validSince":"1","passwordHash":"a-_=","salt":"-_","lastLoginAt":"17",
            "providerUserInfo":[{"providerId":"password","rawId":"a@b"},{"providerId":"google.com","rawId":"g",
            "federatedId":"g"},{"providerId":"phone","rawId":"+1"}]}
            """#
        let text = try UserExport.exported(Array(answer.utf8))
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"localId":"a","email":"a@b","passwordHash":"a+/=","salt":"+/","lastSignedInAt":"17","#
                + #""providerUserInfo":[{"providerId":"google.com","rawId":"g"}]}"#
        )
        let back = try ImportedUser(object: UserObjects.Item(index: 0, line: 1, json: text))
        #expect(
            String(decoding: back.json, as: UTF8.self)
                == #"{"localId":"a","email":"a@b","passwordHash":"a-_=","salt":"-_","lastLoginAt":"17","#
                + #""providerUserInfo":[{"providerId":"google.com","rawId":"g"}]}"#
        )
    }

    @Test("have their passwords described as the service takes it")
    func hashing() throws {
        var options = try HashOptions.parse([])
        #expect(try options.members().value.text == Array("{}".utf8))
        options.hashAlgo = "scrypt"
        options.hashKey = "a+/="
        options.saltSeparator = "Bw=="
        options.rounds = 8
        options.memCost = 14
        #expect(
            String(decoding: try options.members().value.text, as: UTF8.self)
                == #"{"hashAlgorithm":"SCRYPT","signerKey":"a-_=","saltSeparator":"Bw==","rounds":8,"memoryCost":14}"#
        )
        options.rounds = 9
        #expect(throws: CommandError.self) { try options.members() }
        options = try HashOptions.parse([])
        options.rounds = 1
        #expect(throws: CommandError.self) { try options.members() }
        options.hashAlgo = "bcrypt"
        #expect(throws: CommandError.self) { try options.members() }
        options.hashAlgo = "SHA256"
        options.hashInputOrder = "salt_first"
        #expect(
            String(decoding: try options.members().value.text, as: UTF8.self)
                == #"{"hashAlgorithm":"SHA256","rounds":1,"passwordHashOrder":"SALT_AND_PASSWORD"}"#
        )
    }
}

@Suite("accounts for people")
struct ShownAccountTests {
    @Test(
        "are named by uid, address or number",
        arguments: [
            ("ann", .uid("ann")), ("a@b", .email("a@b")), ("+49301", .phone("+49301")),
            ("+", .uid("+")), ("+49x", .uid("+49x")), ("", .uid("")),
        ] as [(String, UserSelector)]
    )
    func selectors(text: String, selector: UserSelector) {
        #expect(UserSelector(text) == selector)
        #expect(UserSelector(text, isUID: true) == .uid(text))
    }

    @Test("keep their row of a table, whatever their names are")
    func tables() {
        let text = TextTable.text(
            ["id", "name", ""],
            [["1", "a\nb\u{1B}[2J", ""], ["22", "", "x"]]
        )
        #expect(text == "id  name\n1   a\\nb\\u001b[2J\n22  -              x")
    }

    @Test("are shown without the hash of the password")
    func hashes() throws {
        let json = Array(#"{"localId":"a","passwordHash":"x","salt":"y","email":"a@b"}"#.utf8)
        let shown = String(decoding: try ShownUser.text(json), as: UTF8.self)
        #expect(shown == #"{"localId":"a","email":"a@b"}"#)
    }
}
