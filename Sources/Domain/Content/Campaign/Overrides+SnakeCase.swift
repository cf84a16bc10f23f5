extension Overrides {
    /// The same blocks with every field of the provider's message in snake case; maps keep their keys as written.
    package var inSnakeCase: Overrides {
        func block(_ value: JSONValue?, _ name: String) -> JSONValue? {
            guard let value, let kind = OverrideSchema.overrides.fields[name] else { return nil }
            return kind.snakeCased(value)
        }
        return Overrides(
            android: block(android, "android"), apns: block(apns, "apns"), webpush: block(webpush, "webpush"))
    }
}

extension OverrideSchema.Kind {
    fileprivate func snakeCased(_ value: JSONValue) -> JSONValue {
        guard case .message(let schema) = self, case .object(let members) = value else { return value }
        var renamed: [String: JSONValue] = [:]
        for (key, member) in members {
            guard let name = schema.camelName(of: key), let kind = schema.fields[name] else { continue }
            renamed[OverrideSchema.snakeCase(name)] = kind.snakeCased(member)
        }
        return .object(renamed)
    }
}
