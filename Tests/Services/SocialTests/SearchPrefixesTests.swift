import Testing

@testable import Social

@Suite("prefixes of the search index")
struct SearchPrefixesTests {
    @Test(
        "texts are compared without case, accents and spelling of spaces",
        arguments: [
            (SearchField.name, "Ann Lee", "ann lee"),
            (.name, "  Zoë\t O'Neil-Groß ", "zoe oneil gross"),
            (.name, "ZOË O’NEIL GROSS", "zoe oneil gross"),
            (.name, "Zoe\u{308}", "zoe"),
            (.name, "ΣΊΣΥΦΟΣ", "σισυφοσ"), (.name, "Σίσυφος", "σισυφοσ"),
            (.name, "İstanbul", "istanbul"), (.name, "ﬁn ２", "fin 2"),
            (.name, "ann_lee-2", "ann lee 2"), (.name, "!?", ""), (.name, "👩‍🚀 Ann", "ann"),
            (.name, "王小明", "王小明"),
            (.email, " Ann.Lee@Example.COM\n", "ann.lee@example.com"),
            (.phone, "+49 (30) 12-34 5", "493012345"), (.phone, "0049 30 12345", "493012345"),
            (.phone, "٠٣٠ ١٢٣", "030123"), (.phone, "none", ""),
        ]
    )
    func normalised(field: SearchField, text: String, expected: String) {
        let normalised = SearchPrefixes.normalised(text, in: field)
        #expect(Array(normalised.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(SearchPrefixes.normalised(normalised, in: field) == normalised)
    }

    @Test(
        "a text is under each beginning of each word, or of the whole",
        arguments: [
            (SearchField.name, "Ann Lee", "a,an,ann,ann ,ann l,ann le,ann lee,l,le,lee"),
            (.name, "Al Al", "a,al,al ,al a,al al"),
            (.name, "", ""),
            (.email, "a@b.de", "a@b=2Ed,a@b=2Ede"),
            (.email, "a@b.", ""),
            (.email, "=#$/[]", "=3D=23=24=2F=5B,=3D=23=24=2F=5B=5D"),
            (.phone, "030 1234", "03012,030123,0301234"),
            (.phone, "1234", ""),
        ]
    )
    func keys(field: SearchField, text: String, expected: String) {
        let keys = SearchPrefixes.keys(of: text, in: field)
        #expect(keys == expected.split(separator: ",").map(String.init).sorted())
    }

    @Test(
        "the key of a whole address is none for one that is too short or too long for the index",
        arguments: [
            (" A@b.de\n", "a@b=2Ede"), ("a@b.", nil), ("", nil),
            (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
            (String(repeating: "a", count: 65), nil),
            (String(repeating: ".", count: 22), nil),
        ] as [(String, String?)]
    )
    func wholeKey(text: String, expected: String?) {
        #expect(SearchPrefixes.wholeKey(of: text, in: .email) == expected)
    }

    @Test("an address of four characters is in no index, whatever its key's length")
    func shortest() {
        #expect(SearchPrefixes.keys(of: "a.b.", in: .email).isEmpty)
        #expect(SearchPrefixes.key(for: "a.b.", in: .email) == nil)
        #expect(SearchPrefixes.key(for: "a.b.c", in: .email) == "a=2Eb=2Ec")
        #expect(SearchPrefixes.key(for: " ", in: .name) == nil)
        #expect(SearchPrefixes.key(for: "Ä", in: .name) == "a")
    }

    @Test(
        "no key is longer than the rules allow, and each is looked up under itself",
        arguments: SearchField.allCases
    )
    func limits(field: SearchField) {
        let texts = [
            String(repeating: "a.", count: 60), String(repeating: "ab ", count: 40),
            String(repeating: "𐐀", count: 50), String(repeating: "12345", count: 30),
            String(repeating: "b", count: 254) + "@example.com",
        ]
        for text in texts {
            let keys = SearchPrefixes.keys(of: text, in: field)
            #expect(keys.count <= SearchPrefixes.wordCount * 32)
            for key in keys { #expect(key.utf16.count <= field.longestPrefix) }
            if let key = SearchPrefixes.key(for: text, in: field) { #expect(keys.contains(key)) }
        }
    }

    @Test("the person who is under a key matches what leads to it")
    func matching() {
        let name = "Zoë O'Neil-Groß of a very long place in the far north"
        for beginning in [
            "z", "ZOE on", "oneil", "gro", "Gross of", "very long place in the far n",
        ] {
            #expect(SearchPrefixes.matches(name, beginning, in: .name), "\(beginning)")
            let key = SearchPrefixes.key(for: beginning, in: .name)
            #expect(SearchPrefixes.keys(of: name, in: .name).contains(key ?? ""))
        }
        #expect(!SearchPrefixes.matches(name, "very long place in the far south", in: .name))
        #expect(!SearchPrefixes.matches(name, "eil", in: .name))
    }
}
