@testable import Chat
import Foundation
import HearthDatabase
import HearthStorage
import Photos
import ServiceSupport
import Testing

@testable import Attachments

/// A server with the rules of chats, in the tree and for files, that these tests share.
private enum FileServer {
    private static let server = Result { try ServiceServer(rules: "social", files: "social") }

    static func member(_ name: String) async throws -> Sender {
        Sender(try await server.get().quickMember(name))
    }
}

/// A person who sends files.
private struct Sender {
    let person: Person
    let rooms: RoomService
    let chats: ChatService
    let attachments: AttachmentService
    let storage: Storage

    var uid: String { person.uid }

    init(_ person: Person) {
        self.person = person
        let me = UserProfile(uid: person.uid, username: person.username)
        rooms = RoomService(database: person.database, me: me)
        chats = ChatService(database: person.database, me: me)
        attachments = AttachmentService(database: person.database, uid: person.uid)
        storage = Storage.storage(app: person.app)
    }

    /// The names of the files at a folder that this person sees, and how long they are.
    func files(_ folder: AttachmentFolder) async throws -> [String: Int64] {
        var found: [String: Int64] = [:]
        for name in ["0", "0-small", "1", "1-small"] {
            do {
                let place = storage.reference(withPath: "\(folder.path)/\(name)")
                found[name] = try await place.getMetadata().size
            } catch StorageError.objectNotFound {
                continue
            }
        }
        return found
    }

    func notes() async throws -> [String: Any] {
        try await person.value("uploads/\(uid)") as? [String: Any] ?? [:]
    }

    /// What became of an operation: nil if it succeeded.
    func failure(_ operation: () async throws -> Void) async -> ServiceError? {
        do {
            try await operation()
            return nil
        } catch {
            return ServiceError(error, purpose: "do this")
        }
    }
}

/// 400 points wide and 4 high, of one color.
private let widePNG =
    Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAZAAAAAECAIAAAAvXf56AAAAKUlEQVR42u3UQQ0AAAjEsJODRCQiCx2EJlWwx1I9ACdEAsCwAAwL+GoBU8zKeclxlVwAAAAASUVORK5CYII="
    ) ?? Data()

private func photoAndText() throws -> [AttachmentFile] {
    [
        try AttachmentFile(widePNG, title: "lake.png", type: "image/png"),
        try AttachmentFile(Data("soup".utf8), title: "menu.txt", type: "text/plain"),
    ]
}

@Suite("files of messages")
struct AttachmentTests {
    @Test("a room sees the files of a message, which has their titles as its text")
    func room() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        let eve = try await FileServer.member("Eve")
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<[Int64]>()
        let key = try await ann.rooms.send(try photoAndText(), to: room) {
            reported.record([$0, $1])
        }
        let event = try #require(
            try await bea.rooms.olderEvents(in: room, before: nil).records.first { $0.key == key }
        )
        guard case .message(let message) = event.content else {
            return #expect(Bool(false), "it is no message")
        }
        #expect(message.text == "lake.png and 1 more")
        #expect(message.text == message.attachments.caption)
        #expect(message.attachments.map(\.title) == ["lake.png", "menu.txt"])
        #expect(message.attachments.map(\.type) == ["image/png", "text/plain"])
        #expect(message.attachments.map(\.size) == [widePNG.count, 4])
        let first = message.attachments[0]
        let read = { (url: URL) in
            try await bea.storage.reference(for: url).data(maxSize: 1 << 20)
        }
        #expect(try await read(first.url) == widePNG)
        let small = try Photo(png: [UInt8](try await read(try #require(first.thumbnail))))
        #expect(small.width == PhotoLimits.width && message.attachments[1].thumbnail == nil)
        let total = Int64(widePNG.count + 4)
        #expect(reported.values.last == [total, total])
        #expect(try await ann.notes().isEmpty)
        // A member of the room alone sees what is there, and no user adds to it.
        let folder = AttachmentFolder.room(room, key)
        #expect(try await bea.files(folder).count == 3)
        let place = eve.storage.reference(withPath: "\(folder.path)/0")
        #expect(await eve.failure { _ = try await place.getMetadata() } != nil)
        let more = bea.storage.reference(withPath: "\(folder.path)/2")
        #expect(await bea.failure { try await more.putDataAsync(Data([1])) } != nil)
        #expect(await bea.failure { try await more.parent()?.child("0").delete() } != nil)
    }

    @Test("the files go with a message that is deleted, also by an owner of the room")
    func deletion() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        for deleter in [bea, ann] {
            let key = try await bea.rooms.send(try photoAndText(), text: "look", to: room)
            let folder = AttachmentFolder.room(room, key)
            try await bea.rooms.edit(key, to: "look!", in: room)
            #expect(try await ann.files(folder).count == 3)
            try await deleter.rooms.delete(key, in: room)
            #expect(try await ann.files(folder).isEmpty)
            #expect(try await deleter.notes().isEmpty)
        }
    }

    @Test("the two of a direct chat see files, which go with their message")
    func direct() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        try await FollowGraph(database: ann.person.database, uid: ann.uid).follow(bea.uid)
        let chat = try await ann.chats.create(from: "hi", with: bea.profile())
        let key = try await ann.chats.send(try photoAndText(), content: "at the lake", for: chat)
        let said = try await bea.chats.olderMessages(forChatKey: chat.key, before: nil).records.last
        #expect(said?.content == "at the lake")
        #expect(said?.attachments.map(\.title) == ["lake.png", "menu.txt"])
        let folder = AttachmentFolder.direct(chat.key, key)
        #expect(try await bea.files(folder).count == 3)
        try await ann.chats.delete(key, in: chat)
        #expect(try await bea.files(folder).isEmpty)
        #expect(try await ann.notes().isEmpty)
    }

    @Test("a message that is refused leaves no file")
    func refusal() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        try await ann.rooms.setRole(.watcher, of: bea.uid, in: room)
        let refused = await bea.failure { try await bea.rooms.send(try photoAndText(), to: room) }
        #expect(refused == .refused("send files"))
        #expect(try await bea.notes().isEmpty)
        // Refused when the files are there already.
        let folder = AttachmentFolder.room(room, try ann.rooms.newEventKey(in: room))
        let late = await ann.failure {
            try await ann.attachments.send(try photoAndText(), to: folder, nil) { attachments in
                #expect(try await ann.files(folder).count == 3 && attachments.count == 2)
                throw ServiceError.refused("name them")
            }
        }
        #expect(late == .refused("name them"))
        #expect(try await ann.files(folder).isEmpty)
        #expect(try await ann.notes().isEmpty)
    }

    @Test("after a cut what was never named goes, and can be named no more")
    func unnamed() async throws {
        let ann = try await FileServer.member("Ann")
        let room = try await ann.rooms.create(name: "Tea")
        let key = try ann.rooms.newEventKey(in: room)
        let folder = AttachmentFolder.room(room, key)
        // The steps of an upload, without the last one.
        try await ann.person.database.update(
            [ann.attachments.path(folder): ["folder": folder.path, "at": ServerValue.timestamp()]],
            to: "note it"
        )
        for name in ["0", "0-small", "1"] {
            try await ann.storage.reference(withPath: "\(folder.path)/\(name)")
                .putDataAsync(Data([1, 2, 3]))
        }
        // It may go on, on another device.
        #expect(try await ann.attachments.mend() == Listing())
        #expect(try await ann.files(folder).count == 3)
        #expect(try await ann.attachments.mend(unnamedFor: .zero).records == [folder.path])
        #expect(try await ann.files(folder).isEmpty)
        #expect(try await ann.notes().isEmpty)
        let url = try #require(
            URL(string: "http://h/v0/b/b/o/chat%2Frooms%2F\(room)%2F\(key)%2F0?x")
        )
        let named = Attachment(name: "0", title: "a", type: "a/b", size: 3, url: url)
        let message = try RoomEvent.Message(text: "a", attachments: [named])
        let refused = await ann.failure {
            try await ann.rooms.tell(.message(message), key: key, in: room, to: "name it")
        }
        #expect(refused == .refused("name it"))
        // Files of a deletion whose second step is missing go at once.
        try await ann.person.database.update(
            [ann.attachments.path(folder): ann.attachments.removal(folder)],
            to: "delete it"
        )
        #expect(try await ann.rooms.mend().isEmpty)
        #expect(try await ann.notes().isEmpty)
    }

    @Test("what cannot be sent is said before anything is")
    func invalid() async throws {
        let ann = try await FileServer.member("Ann")
        let one = try AttachmentFile(Data([1]), title: "a", type: "a/b")
        let none = await ann.failure { try await ann.rooms.send([], text: "a", to: "r") }
        let many = await ann.failure {
            try await ann.rooms.send(Array(repeating: one, count: 11), to: "r")
        }
        for (failure, count) in [(none, 0), (many, 11)] {
            #expect(
                failure
                    == .invalid(field: "files", why: "a message has 1 to 10 files, not \(count)")
            )
        }
        let folder = await ann.failure { _ = try AttachmentFile(URL(fileURLWithPath: "/")) }
        #expect(folder == .invalid(field: "file", why: "/ is no file: give the path of one"))
        let title = await ann.failure { _ = try AttachmentFile(Data(), title: "", type: "a/b") }
        #expect(title == .invalid(field: "title", why: "it is empty"))
        #expect(try await ann.notes().isEmpty)
    }

    @Test(
        "a size is shown in a few digits",
        arguments: [
            (0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (999_499, "999 kB"),
            (999_500, "1.0 MB"), (3_449_999, "3.4 MB"),
        ]
    )
    func sizes(size: Int, text: String) throws {
        let url = try #require(URL(string: "http://h"))
        let attachment = Attachment(name: "0", title: "a", type: "a/b", size: size, url: url)
        #expect(attachment.sizeText == text)
    }
}

extension Sender {
    /// As others see them.
    fileprivate func profile() -> UserProfile {
        UserProfile(uid: uid, username: person.username)
    }
}

@Suite("pictures of people and rooms")
struct PictureTests {
    private static func picture(_ title: String = "lake.png") throws -> AttachmentFile {
        try AttachmentFile(widePNG, title: title, type: "image/png")
    }

    @Test("a person's picture is small, seen by all, and replaced with its bytes")
    func person() async throws {
        let (ann, eve) = (try await FileServer.member("Ann"), try await FileServer.member("Eve"))
        let pictures = PictureService(database: ann.person.database, uid: ann.uid)
        var folders: [AttachmentFolder] = []
        for title in ["lake.png", "wood.png"] {
            let url = try #require(try await pictures.set(try Self.picture(title)))
            let shown = try await eve.person.value("users/\(ann.uid)/picture") as? String
            #expect(shown == url.absoluteString)
            let bytes = try await eve.storage.reference(for: url).data(maxSize: 1 << 20)
            #expect(try Photo(png: [UInt8](bytes)).width == PhotoLimits.width)
            folders.append(
                try #require(AttachmentFolder(ofPerson: ann.uid, address: url.absoluteString))
            )
            #expect(try await ann.notes().isEmpty)
        }
        #expect(folders[0] != folders[1])
        #expect(try await eve.files(folders[0]).isEmpty)
        #expect(try await eve.files(folders[1]).count == 1)
        let place = eve.storage.reference(withPath: "\(folders[1].path)/1")
        #expect(await eve.failure { try await place.putDataAsync(Data([1])) } != nil)
        try await pictures.set(nil)
        #expect(try await eve.files(folders[1]).isEmpty)
        #expect(try await ann.person.value("users/\(ann.uid)/picture") is NSNull)
        let text = try AttachmentFile(Data([1]), title: "a.txt", type: "text/plain")
        await #expect(throws: ServiceError.refused("send files")) { try await pictures.set(text) }
        #expect(try await ann.notes().isEmpty)
    }

    @Test("a picture that is elsewhere is replaced, and no other person's file is removed for it")
    func elsewhere() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        let pictures = PictureService(database: ann.person.database, uid: ann.uid)
        let other = PictureService(database: bea.person.database, uid: bea.uid)
        let theirs = try #require(try await other.set(try Self.picture()))
        for address in ["https://example.com/a.png", theirs.absoluteString] {
            _ = try await ann.person.place("users/\(ann.uid)/picture").setValue(address)
            try await pictures.set(try Self.picture())
            #expect(try await ann.notes().isEmpty)
        }
        let folder = try #require(
            AttachmentFolder(ofPerson: bea.uid, address: theirs.absoluteString)
        )
        #expect(try await ann.files(folder).count == 1)
    }

    @Test("what a cut leaves of a picture, or of the one that it replaced, goes later")
    func cut() async throws {
        let ann = try await FileServer.member("Ann")
        let pictures = PictureService(database: ann.person.database, uid: ann.uid)
        let first = try #require(try await pictures.set(try Self.picture()))
        let old = try #require(AttachmentFolder(ofPerson: ann.uid, address: first.absoluteString))
        // Before the update that names it.
        let cut = AttachmentFolder.person(ann.uid, "-cut")
        let note = ann.person.place(ann.attachments.path(cut))
        _ = try await note.setValue(["folder": cut.path, "at": ServerValue.timestamp()])
        let bytes = ann.storage.reference(withPath: "\(cut.path)/0")
        let metadata = StorageMetadata()
        metadata.contentType = "image/png"
        _ = try await bytes.putDataAsync(widePNG, metadata: metadata)
        // Behind it: the old one is to go.
        _ = try await ann.person.database.reference().updateChildValues([
            "users/\(ann.uid)/picture": "https://example.com/new.png",
            ann.attachments.path(old): ann.attachments.removal(old),
        ])
        for folder in [old, cut] { #expect(try await ann.files(folder).count == 1) }
        let early = try await ann.attachments.mend()
        #expect(early.records == [old.path] && early.faults.isEmpty)
        #expect(try await ann.files(old).isEmpty)
        #expect(try await ann.files(cut).count == 1)
        let late = try await ann.attachments.mend(unnamedFor: .seconds(-60))
        #expect(late.records == [cut.path])
        #expect(try await ann.files(cut).isEmpty)
        #expect(try await ann.notes().isEmpty)
    }

    @Test("a room's picture is changed by those who rename it, and seen by those who see it")
    func room() async throws {
        let (ann, bea) = (try await FileServer.member("Ann"), try await FileServer.member("Bea"))
        let eve = try await FileServer.member("Eve")
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        await #expect(throws: ServiceError.self) {
            try await bea.rooms.setPicture(try Self.picture(), of: room)
        }
        #expect(try await bea.notes().isEmpty)
        try await ann.rooms.letMembersRename(true, in: room)
        var old: AttachmentFolder?
        for sender in [ann, bea, ann] {
            try await sender.rooms.setPicture(try Self.picture(), of: room)
            let picture = try #require(try await bea.rooms.room(room).picture)
            let folder = AttachmentFolder.roomPicture(room, picture.key)
            #expect(try await bea.files(folder).count == 1)
            if let old { #expect(try await bea.files(old).isEmpty) }
            #expect(await eve.failure { _ = try await eve.files(folder) } != nil)
            #expect(try await sender.notes().isEmpty)
            old = folder
        }
        try await bea.rooms.setPicture(nil, of: room)
        #expect(try await ann.rooms.room(room).picture == nil)
        #expect(try await ann.files(try #require(old)).isEmpty)
    }
}
