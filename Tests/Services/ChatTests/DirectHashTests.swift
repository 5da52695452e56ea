@testable import Chat
import Testing

@Suite("what identifies a pair")
struct DirectHashTests {
    private static let long = (
        String(repeating: "a", count: 128), String(repeating: "b", count: 128)
    )

    // By Python: sha256 of "".join(f"{len(uid)}:{uid}" for uid in sorted(uids)).
    private static let vectors: [(String, String, String)] = [
        ("ann", "bob", "3bd8a5fb66e5f8458712b75482dc15d063a62a3a8589ac40c3b9ee827cd92c89"),
        ("bob", "ann", "3bd8a5fb66e5f8458712b75482dc15d063a62a3a8589ac40c3b9ee827cd92c89"),
        ("a", "bc", "5310a58788781ab25d5ad7c3f85035824b4eb7bdfa394e0ac2186271472b5492"),
        ("ab", "c", "430fb1b4ac43316eca81fab27a1930ab8eff8fef6a1dc7903dce44bbc2790dc5"),
        ("x", "x", "2482947ba48b87c50278e640b28cc6d15a2aee7f5345f290c6956cacf9bdda99"),
        ("y", "y", "1820f523c3f5399d5201cc5e5e5f27b1593e259b327d630ce16393060e26e045"),
        ("", "", "390feabc786e369e55b904251d643b52b52b691c60eb74a498ef7c6df993bf12"),
        ("Zoe", "ann", "d3919308a46a7e38433ecbb0755126ea2633b9d26eec6c476ae0451e33235293"),
        ("10", "9", "dc0679f644a90e4e5d02e591ee4bc9f251bb40d87cf963f9ee5ac776033d48e6"),
        // Two forms of one character are two uids, and a count is one of code points.
        ("\u{E9}", "e\u{301}", "f3f7e7c4ceff92339a32f0a1090229d53850c44e36ceebbd4449e5f622e8dafd"),
        // UTF-16 would sort these the other way.
        (
            "\u{1F600}", "\u{FFFD}",
            "0daac2d4867dbbce6ace3cc729bb2f5b32e3df7bedd1e0c0a23331a417cdcb8e"
        ),
        (
            "\u{5D0}", "\u{5D1}",
            "e3deb3cf1d74bf9ea8f3923866da3035abe99d20f77d429170a8bc773b1be72f"
        ),
        (long.0, long.1, "115b42ae440868739dd02456e7cffb8792a3d7b0d160dd30fca0ce9037865ff3"),
    ]

    @Test("the digest is the published one, in either order", arguments: vectors)
    func vector(first: String, second: String, digest: String) {
        #expect(MemberHash.of(first, second) == digest)
        #expect(MemberHash.of(second, first) == digest)
    }

    @Test("keys to try begin with the digest, are all different, and the same for both")
    func keys() {
        let keys = MemberHash.keys(of: "ann", "bob")
        #expect(keys == MemberHash.keys(of: "bob", "ann"))
        #expect(Set(keys).count == 16)
        #expect(keys[0] == MemberHash.of("ann", "bob"))
        #expect(keys[1] == "ca66160da58d831be0d436d0b7bbe0d168e17d913ee5e9bb2a8cb0bb5a63d3de")
        #expect(keys[15] == "af8b283420ec2699b8c42c38dc35bd0b054dac0f2dbbbe1609391e97037bb779")
        #expect(Set(keys).isDisjoint(with: MemberHash.keys(of: "ann", "bo")))
    }

    @Test("what both call a chat does not depend on who starts it")
    func title() {
        #expect(DirectChat.title("bob", "ann") == "ann, bob")
        #expect(DirectChat.title("ann", "bob") == "ann, bob")
        #expect(DirectChat.title("ann", "Bob") == "Bob, ann")
    }
}
