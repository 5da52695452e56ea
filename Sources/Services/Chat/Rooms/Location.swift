import Social

/// A location on Earth that a message shows.
public struct Location: Hashable, Sendable {
    /// Degrees north of the equator, -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public let longitude: Double

    /// A location.
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

    func check() throws(ServiceError) {
        guard ChatLimits.latitudes.contains(latitude) else {
            throw .invalid(field: "location.lat", why: "it is not from -90 to 90")
        }
        guard ChatLimits.longitudes.contains(longitude) else {
            throw .invalid(field: "location.lng", why: "it is not from -180 to 180")
        }
    }

    var stored: [String: Any] { ["lat": latitude, "lng": longitude] }
}
