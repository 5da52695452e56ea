import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

@Suite("photos of parties")
struct PhotoFlowTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    /// A party of Ann's that Bob comes to and Cyd is invited to.
    private func party() async throws -> (ann: Person, bob: Person, cyd: Person, key: String) {
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await bob.parties.answer(bob.question(), isComing: true)
        try await ann.start()
        return (ann, bob, cyd, key)
    }

    @Test("a guest's photo joins the party when the host says so, and then all guests see it")
    func accepted() async throws {
        let (ann, bob, cyd, key) = try await party()
        let photo = try Picture.wide.get()
        #expect(photo.width == 300)
        let name = try await bob.photos.add(photo, to: key)
        try await expect(
            bob,
            at: "users/\(bob.uid)",
            [
                "uid": bob.uid, "email": try await bob.accounts.me().email,
                "friends": [ann.uid: true], "attendingParties": [key: true], "photos": [name: true],
            ]
        )
        try await expect(
            bob,
            at: "photos/\(name)",
            ["owner": bob.uid, "host": ann.uid, "party": key, "file": photo.png.count]
        )
        await #expect(throws: PhotoStoreError.notFound(name)) {
            try await cyd.photos.load(name)
        }
        #expect(try await ann.photos.load(name) == photo)
        let question = try await ann.question()
        #expect(question.subject == .photo(name, party: key))
        try await ann.photos.accept(question)
        try await expect(ann, at: "parties/\(key)/photos", [name: true])
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        #expect(try await cyd.photos.load(name) == photo)
        #expect(try await bob.inbox.apply().count == 1)
        try await expect(bob, at: "messages/\(bob.uid)", nil)
    }

    @Test("a refused photo joins nothing and stays its uploader's, who deletes it")
    func refused() async throws {
        let (ann, bob, cyd, key) = try await party()
        let name = try await bob.photos.add(Picture.small.get(), to: key)
        try await ann.photos.refuse(ann.question())
        try await bob.inbox.apply()
        try await expect(ann, at: "parties/\(key)/photos", nil)
        try await expect(bob, at: "users/\(bob.uid)/photos", [name: true])
        await #expect(throws: ServiceError.notFound("photo \(name) that you may see")) {
            try await cyd.photos.delete(name)
        }
        try await bob.photos.delete(name)
        try await expect(bob, at: "users/\(bob.uid)/photos", nil)
        #expect(try await bob.node("photos/\(name)") == "denied")
        try await ann.start()
        try await expect(ann, at: "messages/\(ann.uid)", nil)
    }

    @Test("the owner adds without asking, and deletes bytes and both keys")
    func owner() async throws {
        let (ann, bob, _, key) = try await party()
        let name = try await ann.photos.add(Picture.small.get(), to: key)
        try await expect(ann, at: "parties/\(key)/photos", [name: true])
        try await expect(ann, at: "users/\(ann.uid)/photos", [name: true])
        try await expect(ann, at: "users/\(ann.uid)/uploads", nil)
        #expect(try await bob.photos.load(name) == Picture.small.get())
        let why = "its uploader and the host of the party delete it"
        await #expect(throws: ServiceError.invalid(field: "photo", why: why)) {
            try await bob.photos.delete(name)
        }
        try await ann.photos.delete(name)
        try await expect(ann, at: "parties/\(key)/photos", nil)
        try await expect(ann, at: "users/\(ann.uid)/photos", nil)
        #expect(try await ann.node("photos/\(name)") == "denied")
    }

    @Test("the uploader deletes the bytes, and the host's client takes the key off")
    func uploaderDeletes() async throws {
        let (ann, bob, _, key) = try await party()
        let name = try await bob.photos.add(Picture.small.get(), to: key)
        try await ann.photos.accept(ann.question())
        try await bob.inbox.apply()
        try await bob.photos.delete(name)
        #expect(try await ann.node("photos/\(name)") == "denied")
        try await expect(ann, at: "parties/\(key)/photos", [name: true])
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/photos", nil)
        try await expect(ann, at: "messages/\(ann.uid)", nil)
    }

    @Test("a host who is not the uploader takes the key off, and the bytes stay")
    func hostTakesOff() async throws {
        let (ann, bob, cyd, key) = try await party()
        let name = try await bob.photos.add(Picture.small.get(), to: key)
        try await ann.photos.accept(ann.question())
        try await ann.photos.delete(name)
        try await expect(ann, at: "parties/\(key)/photos", nil)
        #expect(try await bob.photos.load(name) == Picture.small.get())
        await #expect(throws: PhotoStoreError.notFound(name)) { try await cyd.photos.load(name) }
        let why = "it is another's, who alone changes it"
        await #expect(throws: ServiceError.invalid(field: "party", why: why)) {
            try await bob.photos.takeOff(name, from: key)
        }
    }

    @Test("a guest does not have another's photo taken off")
    func othersPhoto() async throws {
        let (ann, bob, cyd, key) = try await party()
        let name = try await bob.photos.add(Picture.small.get(), to: key)
        try await ann.photos.accept(ann.question())
        let forged = cyd.message(
            to: ann.uid,
            "image_uploaded",
            "refuse",
            party: key,
            photo: name,
        )
        #expect(try await cyd.mayWrite(["messages/\(ann.uid)/forged": forged]))
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/photos", [name: true])
        try await expect(ann, at: "messages/\(ann.uid)", nil)
    }

    @Test("a question about a deleted photo is reported as such, and refused")
    func deletedBeforeDecision() async throws {
        let (ann, bob, _, key) = try await party()
        let name = try await bob.photos.add(Picture.small.get(), to: key)
        let question = try await ann.question()
        try await bob.photos.delete(name)
        await #expect(throws: ServiceError.notFound("photo \(name) any more: refuse it")) {
            try await ann.photos.accept(question)
        }
        try await expect(ann, at: "parties/\(key)/photos", nil)
        try await ann.start()
        try await expect(ann, at: "messages/\(ann.uid)", nil)
    }

    @Test("a photo for a party that one is no guest of leaves nothing behind")
    func uninvited() async throws {
        let (ann, bob, _, key) = try await party()
        let eve = try await server.partygoer("Eve")
        let unseen = ServiceError.notFound(
            "party \(key) that you may see; it may have been cancelled"
        )
        await #expect(throws: unseen) { try await eve.photos.add(Picture.small.get(), to: key) }
        #expect(try await ann.mayWrite(["parties/\(key)/guests/\(bob.uid)": false]))
        await #expect(throws: unseen) { try await bob.photos.add(Picture.small.get(), to: key) }
        for person in [eve, bob] {
            let user = try await person.accounts.me()
            #expect(user.uploads.isEmpty && user.photos.isEmpty)
        }
        #expect(try await ann.inbox.messages().records.isEmpty)
    }

    @Test("no more of a photo is decoded than was asked for")
    func downloadLimit() async throws {
        let (ann, _, _, key) = try await party()
        let photo = try Picture.wide.get()
        let name = try await ann.photos.add(photo, to: key)
        #expect(try await ann.photos.load(name, byteLimit: photo.png.count) == photo)
        for limit in [photo.png.count - 1, 0] {
            await #expect(throws: PhotoStoreError.tooLarge(key: name, byteLimit: limit)) {
                try await ann.photos.load(name, byteLimit: limit)
            }
        }
    }

    @Test("bytes that are no photo are reported as such")
    func foreignBytes() async throws {
        let (ann, bob, _, key) = try await party()
        let fields = ["owner": bob.uid, "host": ann.uid, "party": key]
        for (name, png) in [("torn", "iVBORw0KGgoAAAANSUhEUg=="), ("bad", "iVBORw0KGgo!!")] {
            let place = "\(name)-\(bob.uid.prefix(20))"
            let photo = fields.merging(["png": png]) { $1 }
            #expect(try await bob.mayWrite(["photos/\(place)": photo]))
            await #expect(throws: PhotoStoreError.self) { try await bob.photos.load(place) }
        }
    }

    @Test("the store keeps one photo under a key, and the same again is harmless")
    func store() async throws {
        let (ann, bob, _, key) = try await party()
        let store = PartyPhotoStore(
            database: bob.database,
            uid: bob.uid,
            party: try await bob.parties.show(key),
        )
        let name = try #require(bob.place("photos").childByAutoId().key)
        let (small, wide) = (try Picture.small.get(), try Picture.wide.get())
        await #expect(throws: PhotoStoreError.notFound(name)) { try await store.load(forKey: name) }
        try await store.store(small, forKey: name)
        try await store.store(small, forKey: name)
        let purpose = "upload a photo for the party \(key)"
        await #expect(throws: ServiceError.refused(purpose)) {
            try await store.store(wide, forKey: name)
        }
        #expect(try await store.load(forKey: name) == small)
        try await expect(bob, at: "users/\(bob.uid)/uploads", [name: key])
        try await store.delete(forKey: name)
        try await store.delete(forKey: name)
        try await expect(bob, at: "users/\(bob.uid)/uploads", nil)
        await #expect(throws: PhotoStoreError.invalidKey("a/b")) {
            try await store.store(small, forKey: "a/b")
        }
        #expect(try await ann.node("photos/\(name)") == "denied")
    }
}
