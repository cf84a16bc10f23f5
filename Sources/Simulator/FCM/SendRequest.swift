/// What the answer and the device model need of a send request that passed every check.
struct SendRequest {
    enum Target {
        /// A registration token or installation id: one device.
        case device(JSONText)
        /// A topic or condition: no device is modelled.
        case group(JSONText, isTopic: Bool)
    }

    /// Sizes are of compact JSON, in bytes (content-model.md §9).
    struct Sizes {
        var data = 0
        var androidData = 0
        var notification = 0
        var androidNotification = 0
        var applePayload = 0

        /// What counts towards the limit: a platform's `data` replaces the common one.
        var payload: Int { max(data, androidData) + notification + androidNotification }
    }

    /// Parts of the message, noticed in passing.
    struct Parts: OptionSet {
        let rawValue: UInt16
        static let data = Parts(rawValue: 1 << 0)
        static let notification = Parts(rawValue: 1 << 1)
        static let appleAlert = Parts(rawValue: 1 << 2)
        /// A data message that our app library shows: it has a title or a body and does not ask for silence.
        static let text = Parts(rawValue: 1 << 3)
        static let silent = Parts(rawValue: 1 << 4)
        static let applePriority5 = Parts(rawValue: 1 << 5)
        static let applePriorityOther = Parts(rawValue: 1 << 6)
        static let validateOnly = Parts(rawValue: 1 << 7)
        static let secondTarget = Parts(rawValue: 1 << 8)
    }

    var target: Target?
    var parts: Parts = []
    var sizes = Sizes()
    /// `data.id`, or `data._id` where the message has a notification block; Android's own `data` counts before the common.
    var id: JSONText?
    /// `android.notification.tag`: what makes a repeat replace the notification shown.
    var tag: JSONText?
}
