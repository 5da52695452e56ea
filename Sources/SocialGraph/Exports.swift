// Listings, faults and errors of a service come with it.
@_exported public import Records
