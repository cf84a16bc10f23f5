/// What a notification is for, and what Apple asks of it (sending notification requests to APNs).
enum APNsPushType: String, Sendable {
    case alert, background, voip, complication, fileprovider, liveactivity, location, pushtotalk, widgets, controls, mdm

    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Bytes of a body.
    var limit: Int { self == .voip ? 5120 : 4096 }
}
