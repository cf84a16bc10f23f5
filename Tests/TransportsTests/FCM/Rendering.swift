import Domain
import Foundation

@testable import Transports

/// One job rendered from a content version.
struct Rendering {
    let bytes: [UInt8]
    let refusal: Reason?
    let language: String?

    init(
        _ content: ContentVersion, language: String?, attributes: [String: String], token: String = "t-1",
        identity: JobIdentity = JobIdentity(run: .init(12), number: 34), remaining: Int64 = 900
    ) throws {
        let prepared = FCMMessageCompiler(content).compile()
        let job = OutgoingJob(
            ticket: Ticket(batch: 1, ordinal: 2), identity: identity, address: Address(text: token), language: language,
            values: content.placeholderNames.map { attributes[$0] }, remainingSeconds: remaining)
        let body = prepared.body(for: language)
        var bytes: [UInt8] = []
        refusal = prepared.append(job, body: body, now: 1_774_000_000, to: &bytes)
        self.bytes = bytes
        self.language = prepared.bodies[body].language
    }
}

/// A template from its text; malformed text stands as it is.
func template(_ text: String) -> Template { Template.parse(text) ?? Template(segments: [.literal(text)]) }

func json(_ bytes: [UInt8]) throws -> NSDictionary {
    try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:]
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension ContentVersion {
    /// The worked example of the content model (§14), with a collapse key.
    static let boarding = ContentVersion(
        id: .init(7),
        message: Message(
            variants: [
                Variant(
                    language: "en", title: template("Boarding opens soon ⛴️"),
                    body: template("{{firstName|Hello}}, gate {{gate|at the desk}} opens in 10 minutes."),
                    image: "https://img.ferry.example/gate/b.png", url: template("ferry://trip/{{tripRef|list}}"),
                    actions: [
                        .init(id: "pass", title: "Show pass", url: template("ferry://pass/{{tripRef|list}}")),
                        .init(id: "mute", title: "Mute this trip", url: nil),
                    ]),
                Variant(
                    language: "pt-BR", title: template("Embarque em breve ⛴️"),
                    body: template("{{firstName|Olá}}, o portão {{gate|do balcão}} abre em 10 minutos."),
                    image: nil, url: template("ferry://trip/{{tripRef|list}}"), actions: []),
            ], defaultVariant: 0,
            presentation: Presentation(
                sound: "horn.caf", badge: 2, threadId: "trip-88", icon: "https://img.ferry.example/i/192.png",
                interruptionLevel: .timeSensitive, relevanceScore: 0.8, channelId: "boarding"),
            data: [.init(key: "leg", value: "2"), .init(key: "screen", value: "trip")], silent: false),
        delivery: DeliveryOptions(ttlSeconds: 900, collapseKey: "trip-88"))

    /// One language and nothing else.
    init(id: ID, _ variant: Variant) {
        self.init(
            id: id,
            message: Message(
                variants: [variant], defaultVariant: 0, presentation: Presentation(), data: [], silent: false),
            delivery: DeliveryOptions())
    }
}
