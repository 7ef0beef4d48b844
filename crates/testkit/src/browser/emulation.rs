//! Which screen, colours and network does a page get, and how is it photographed?

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
    /// Sets the size of this tab and of those opened later.
    pub async fn resize(&self, width: u32, height: u32) {
        self.set(|settings| (settings.width, settings.height) = (width, height));
        self.emulate().await;
    }

    /// Sets `prefers-color-scheme` in this tab and in those opened later.
    pub async fn scheme(&self, scheme: Scheme) {
        self.set(|settings| settings.scheme = scheme);
        self.emulate().await;
    }

    /// Disconnects this tab from the network, or connects it again.
    pub async fn network(&self, network: Network) {
        let offline = network == Network::Offline;
        let limits = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.devtools("Network.emulateNetworkConditions", limits).await;
    }

    /// Writes the whole page, also what is not in view, as PNG with one pixel for each CSS pixel.
    pub async fn screenshot(&self, path: impl AsRef<Path>) {
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await;
        let size = &metrics["cssContentSize"];
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.devtools("Page.captureScreenshot", parameters).await;
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap_or_default()).expect("a picture in base64");
        std::fs::write(path, bytes).expect("a place for the picture");
    }

    /// Every tab has its own emulation, so this is repeated for a new one.
    pub(super) async fn emulate(&self) {
        let settings = self.settings();
        let metrics =
            json!({"width": settings.width, "height": settings.height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        // No animations: a screenshot or a measurement would show the middle of one.
        let features = json!({"features": [
            {"name": "prefers-color-scheme", "value": settings.scheme.as_str()},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }
}
