/// A place on Earth that somebody shows in a room.
public struct Location: Hashable, Sendable {
    /// Degrees north of the equator, -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public let longitude: Double

    /// A place.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Location: Decodable {
    private enum CodingKeys: String, CodingKey {
        case latitude = "lat"
        case longitude = "lng"
    }

    /// What is wrong with it, field and words; nil for a place that there is.
    var fault: (field: String, why: String)? {
        if !ChatLimits.latitudes.contains(latitude) {
            return ("location.lat", "it is not from -90 to 90")
        }
        if !ChatLimits.longitudes.contains(longitude) {
            return ("location.lng", "it is not from -180 to 180")
        }
        return nil
    }

    /// As it is in the tree.
    var stored: [String: Any] { ["lat": latitude, "lng": longitude] }
}
