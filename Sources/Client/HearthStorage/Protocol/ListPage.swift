import Foundation

/// One page of a list as the server sends it.
struct ListPage: Equatable, Sendable, Decodable {
    struct Item: Equatable, Sendable, Decodable {
        let name: String
    }

    var prefixes: [String] = []
    var items: [Item] = []
    /// Names the next page; nil on the last one.
    var nextPageToken: String?

    private enum CodingKeys: CodingKey { case prefixes, items, nextPageToken }

    /// Reads what the server has answered.
    ///
    /// - Throws: `StorageError.unknown` when it is no list.
    init(_ answer: StorageAnswer) throws(StorageError) {
        do {
            self = try JSONDecoder().decode(ListPage.self, from: answer.body)
        } catch {
            throw .unknown(message: "The server sent no list of objects.", serverError: [:])
        }
    }

    /// Arrays that are not there are empty.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        prefixes = try members.decodeIfPresent([String].self, forKey: .prefixes) ?? []
        items = try members.decodeIfPresent([Item].self, forKey: .items) ?? []
        nextPageToken = try members.decodeIfPresent(String.self, forKey: .nextPageToken)
    }
}
