//! Colours and fonts, for light and for dark surroundings.

use super::super::Layer;

pub(super) const STYLE: &str = "\
text{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:11px;fill:#57606a}
.name,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.name{font-size:13px;font-weight:600;fill:#1f2328}
.mono{fill:#1f2328}
.faint{fill:#8b949e}
.host{font-size:14px;font-weight:600;fill:#1f2328}
.layer{font-size:10px;font-weight:600;fill:#6e7781}
.sheet{fill:#fff;stroke:#d0d7de}
.band{fill:#f6f8fa}
.box{fill:#fff;stroke:#afb8c1}
.down{stroke-dasharray:4 3}
.line{fill:none;stroke:#afb8c1;stroke-width:1.5}
.peer{fill:none;stroke:#8250df;stroke-width:1.5;stroke-dasharray:2 4;stroke-linecap:round}
.way{fill:none;stroke:#1a7f37;stroke-width:2.5}
.box.way{fill:#fff;stroke-width:2}
.up{fill:#2da44e}
.off{fill:none;stroke:#8b949e;stroke-width:1.5}
.pill{fill:#dafbe1}
.route{font-weight:600;fill:#1a7f37}
.physical{fill:#6e7781}.bond{fill:#0a7d91}.vlan{fill:#bf8700}.bridge{fill:#0969da}.workload{fill:#8250df}.vrf{fill:#cf222e}
@media(prefers-color-scheme:dark){
text{fill:#9198a1}.name,.mono,.host{fill:#f0f6fc}.faint{fill:#6e7681}.layer{fill:#9198a1}
.sheet{fill:#0d1117;stroke:#3d444d}.band{fill:#151b23}.box,.box.way{fill:#212830}.box{stroke:#3d444d}
.line{stroke:#656c76}.peer{stroke:#ab7df8}.way,.box.way{stroke:#3fb950}.up{fill:#3fb950}.pill{fill:#12361d}.route{fill:#56d364}
.physical{fill:#9198a1}.bond{fill:#39c5cf}.vlan{fill:#d29922}.bridge{fill:#4493f8}.workload{fill:#ab7df8}.vrf{fill:#f85149}
}
";

pub(super) fn class(layer: Layer) -> &'static str {
    match layer {
        Layer::Physical => "physical",
        Layer::Bond => "bond",
        Layer::Vlan => "vlan",
        Layer::Bridge => "bridge",
        Layer::Workload => "workload",
        Layer::Vrf => "vrf",
    }
}

/// Text as XML takes it; what XML cannot hold at all becomes a replacement character.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
