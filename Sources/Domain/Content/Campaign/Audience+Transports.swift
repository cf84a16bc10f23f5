extension Audience {
    /// The transports that its members can have: what a message to it must fit.
    package var transports: Set<TransportKind> {
        switch self {
        case .transport(let kinds): Set(kinds)
        case .and(let parts): parts.reduce(Set(TransportKind.allCases)) { $0.intersection($1.transports) }
        case .or(let parts): parts.reduce([]) { $0.union($1.transports) }
        case .not(.transport(let kinds)): Set(TransportKind.allCases).subtracting(kinds)
        case .all, .not, .platform, .language, .tag, .attribute, .registered, .seen, .user, .externalID, .segment:
            Set(TransportKind.allCases)
        }
    }
}

extension [SizeReport] {
    /// What the audience's transports are held to; a topic or condition takes less than a device does.
    package func narrowed(to transports: Set<TransportKind>, target: ProviderTarget?) -> [SizeReport] {
        filter { transports.contains($0.transport) }.map { size in
            var size = size
            if target != nil { size.limit = Swift.min(size.limit, ProviderTarget.maximumBytes) }
            return size
        }
    }
}
