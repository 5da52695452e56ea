// Listings, faults, errors and photos of the service come with it.
@_exported public import Photos
@_exported public import Social
