extension Audience {
    /// The names of the segments that it stands on.
    package var segments: Set<String> {
        switch self {
        case .segment(let name): [name]
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.segments) }
        case .not(let part): part.segments
        case .all, .transport, .platform, .language, .tag, .attribute, .registered, .seen, .user, .externalID: []
        }
    }

    /// With every segment written out.
    /// - Parameter known: audiences by name, written out themselves; a name that is missing stays as it is.
    package func writingOut(_ known: [String: Audience]) -> Audience {
        switch self {
        case .segment(let name): known[name] ?? self
        case .and(let parts): .and(parts.map { $0.writingOut(known) })
        case .or(let parts): .or(parts.map { $0.writingOut(known) })
        case .not(let part): .not(part.writingOut(known))
        case .all, .transport, .platform, .language, .tag, .attribute, .registered, .seen, .user, .externalID: self
        }
    }
}
