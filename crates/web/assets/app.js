// What the pages do in the browser: keep up, and do what their forms and buttons say.
import "./columns.js";
import "./complete.js";
import "./drag.js";
import "./drafts.js";
import "./forms.js";
import "./graph.js";
import "./guard.js";
import "./history.js";
import "./keys.js";
import "./live.js";
import "./log.js";
import "./palette.js";
import "./selection.js";
import "./notice.js";
import "./time.js";
import "./tree.js";

// Where the navigation is wider than the window, the page that is open is in sight.
document.querySelector("header nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
