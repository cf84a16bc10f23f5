/// What a notification says, strictly valid (content model §1 to §8).
package struct Message: Sendable, Equatable {
    /// By comparison form of the language; empty when silent.
    package var variants: [Variant]
    /// Index into `variants` of the one that `_default` names; 0 when silent.
    package var defaultVariant: Int
    package var presentation: Presentation
    /// Handed to the app untouched, sorted by key.
    package var data: [DataEntry]
    package var silent: Bool
    package var overrides: Overrides

    package init(
        variants: [Variant], defaultVariant: Int, presentation: Presentation, data: [DataEntry], silent: Bool,
        overrides: Overrides = .none
    ) {
        self.variants = variants
        self.defaultVariant = defaultVariant
        self.presentation = presentation
        self.data = data
        self.silent = silent
        self.overrides = overrides
    }

    package struct DataEntry: Sendable, Equatable {
        package var key: String
        package var value: String
        package init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }
}

/// One language's text. Fields are never mixed between variants [D-3].
package struct Variant: Sendable, Equatable {
    /// The map key as the author spelled it.
    package var language: String
    package var title: Template
    package var body: Template
    package var image: String?
    package var url: Template?
    package var actions: [Action]

    package init(
        language: String, title: Template, body: Template, image: String?, url: Template?, actions: [Action]
    ) {
        self.language = language
        self.title = title
        self.body = body
        self.image = image
        self.url = url
        self.actions = actions
    }

    package struct Action: Sendable, Equatable {
        package var id: String
        package var title: String
        package var url: Template?
        package init(id: String, title: String, url: Template?) {
            self.id = id
            self.title = title
            self.url = url
        }
    }
}

/// A text with placeholders, parsed (content model §4).
package struct Template: Sendable, Equatable {
    package enum Segment: Sendable, Equatable {
        case literal(String)
        /// `fallback` nil = none was given: a missing value becomes empty text.
        case placeholder(name: String, fallback: String?)
    }
    package var segments: [Segment]
    package init(segments: [Segment]) { self.segments = segments }
}

/// Options that do not depend on language (content model §5). nil = not set.
package struct Presentation: Sendable, Equatable {
    package var sound: String?
    package var badge: Int?
    package var threadId: String?
    package var icon: String?
    package var interruptionLevel: InterruptionLevel?
    package var relevanceScore: Double?
    package var channelId: String?

    package init(
        sound: String? = nil, badge: Int? = nil, threadId: String? = nil, icon: String? = nil,
        interruptionLevel: InterruptionLevel? = nil, relevanceScore: Double? = nil, channelId: String? = nil
    ) {
        self.sound = sound
        self.badge = badge
        self.threadId = threadId
        self.icon = icon
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.channelId = channelId
    }

    package enum InterruptionLevel: String, Sendable, CaseIterable {
        case passive
        case active
        case timeSensitive = "time-sensitive"
        case critical
    }
}

/// How a message travels (content model §11.5).
package struct DeliveryOptions: Sendable, Equatable {
    package enum Priority: String, Sendable { case high, normal }
    /// What an FCM message is: one that the app's SDK draws, or one that FCM draws itself.
    package enum FCMMode: String, Sendable, CaseIterable { case data, notification }
    /// 0 to 2,419,200; nil = the longest life that every provider takes, 28 days. 0: the provider does not keep it for a
    /// device that cannot be reached now.
    package var ttlSeconds: Int?
    package var collapseKey: String?
    /// nil = by content: `passive` and silent are normal, the rest high.
    package var priority: Priority?
    package var inDoubt: InDoubtPolicy
    /// nil = as the app says; a content version that is stored says it for itself.
    package var fcmMode: FCMMode?
    /// Marks the message in Firebase's reports: `^[a-zA-Z0-9-_.~%]{1,50}$`.
    package var analyticsLabel: String?

    package init(
        ttlSeconds: Int? = nil, collapseKey: String? = nil, priority: Priority? = nil, inDoubt: InDoubtPolicy = .retry,
        fcmMode: FCMMode? = nil, analyticsLabel: String? = nil
    ) {
        self.ttlSeconds = ttlSeconds
        self.collapseKey = collapseKey
        self.priority = priority
        self.inDoubt = inDoubt
        self.fcmMode = fcmMode
        self.analyticsLabel = analyticsLabel
    }

    /// How long after it is due a job may still be sent. What no provider keeps has a minute: time for the queue, a rescue
    /// (30 s) and another attempt. The SQL function `notify` says the same.
    package var life: Duration { .seconds(ttlSeconds == 0 ? 60 : ttlSeconds ?? 2_419_200) }

    /// What the provider is told: for how long it may keep it.
    /// - Parameter remaining: seconds until the job expires.
    package func keepSeconds(remaining: Int64) -> Int64 { ttlSeconds == 0 ? 0 : max(0, remaining) }
}

extension Message {
    /// The attributes that any field names, sorted, each once.
    package var placeholderNames: [String] {
        var names: Set<String> = []
        for variant in variants {
            let optional = [variant.url] + variant.actions.map(\.url)
            let templates = [variant.title, variant.body] + optional.compactMap(\.self)
            for case .placeholder(let name, _) in templates.flatMap(\.segments) { names.insert(name) }
        }
        return names.sorted()
    }
}
