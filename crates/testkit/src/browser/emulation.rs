//! What does the page believe about its screen and its network, and what does it look like?

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Browser, Scheme};

/// Whether the tab reaches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    Online,
    Offline,
}

impl Browser {
    /// Gives this tab, and those opened later, exactly this room.
    pub async fn resize(&self, width: u32, height: u32) {
        self.set(|settings| (settings.width, settings.height) = (width, height));
        self.emulate().await;
    }

    /// Makes the system of the user prefer these colours, in this tab and those opened later.
    pub async fn scheme(&self, scheme: Scheme) {
        self.set(|settings| settings.scheme = scheme);
        self.emulate().await;
    }

    /// Cuts this tab, and no other, off the network, or connects it again.
    pub async fn network(&self, network: Network) {
        let offline = network == Network::Offline;
        let limits = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.devtools("Network.emulateNetworkConditions", limits).await;
    }

    /// Writes the whole page, also what is below the fold, as PNG; one pixel for each of CSS.
    pub async fn screenshot(&self, path: impl AsRef<Path>) {
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await;
        let size = &metrics["cssContentSize"];
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.devtools("Page.captureScreenshot", parameters).await;
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap_or_default()).expect("a picture in base64");
        std::fs::write(path, bytes).expect("a place for the picture");
    }

    /// Every tab has its own emulation, so a new one is told again.
    pub(super) async fn emulate(&self) {
        let settings = self.settings();
        let metrics =
            json!({"width": settings.width, "height": settings.height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        // Without motion, so that nobody measures or pictures the middle of a transition.
        let features = json!({"features": [
            {"name": "prefers-color-scheme", "value": settings.scheme.as_str()},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }
}
