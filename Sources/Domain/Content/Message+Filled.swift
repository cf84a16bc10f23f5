extension Message {
    /// The message with the longer of each placeholder's fallback and a subscriber's value in the fallback's place, so
    /// that a meter weighs what it can come to for those subscribers.
    /// - Parameter values: by attribute; those that are missing leave the fallback.
    package func filled(with values: [String: String]) -> Message {
        guard !values.isEmpty else { return self }
        var message = self
        message.variants = variants.map { variant in
            var variant = variant
            variant.title = variant.title.filled(with: values, field: .text)
            variant.body = variant.body.filled(with: values, field: .text)
            variant.url = variant.url?.filled(with: values, field: .url)
            variant.actions = variant.actions.map { action in
                var action = action
                action.url = action.url?.filled(with: values, field: .url)
                return action
            }
            return variant
        }
        return message
    }
}

extension Template {
    fileprivate func filled(with values: [String: String], field: TemplateField) -> Template {
        let isWholeField = segments.count == 1
        return Template(
            segments: segments.map { segment in
                guard case .placeholder(let name, let fallback) = segment, let value = values[name],
                    !WhiteSpace.isBlank(value)
                else { return segment }
                let text = field == .url && !isWholeField ? PercentEncoding.encode(value) : value
                // Weighed as JSON, where a quote is two bytes.
                let isLonger =
                    JSONBytes.escaped(text, .json).count > JSONBytes.escaped(fallback ?? "", .json).count
                return isLonger ? .placeholder(name: name, fallback: text) : segment
            })
    }
}
