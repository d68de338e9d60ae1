/** The styles of an exported file. It is self-contained, so it has its own few colours. */
export const exportStyles = `
:root { color-scheme: light dark; --line: light-dark(#e5e5ea, #2a2d33); --soft: light-dark(#f5f5f7, #191b1f); --muted: light-dark(#555862, #a9adb7) }
body { margin: 0; background: light-dark(#fff, #141518); color: light-dark(#1c1d21, #e8e9ec); font: 15px/1.62 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 760px; margin: 0 auto; padding: 32px 16px 64px }
h1 { margin: 0; font-size: 22px }
h3 { margin: 0; font-size: 13.5px }
h3 span, h3 small, .muted, .md-code-head { color: var(--muted); font-weight: 400 }
.small, .md-code-head { font-size: 12px }
.text { white-space: pre-wrap; margin: 0 }
.error { color: light-dark(#b92d26, #ff938a) }
.message { margin: 24px 0 16px auto; width: fit-content; max-width: 85%; padding: 8px 14px; border-radius: 14px; background: var(--soft) }
.call { margin: 12px 0; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px }
.plan { padding: 0; list-style: none }
pre { margin: 8px 0; padding: 8px 12px; border-radius: 8px; background: var(--soft); font: 12.5px/1.55 ui-monospace, monospace; white-space: pre-wrap }
table { border-collapse: collapse }
th, td { padding: 4px 12px; border: 1px solid var(--line); text-align: left }
img { max-width: 100%; border-radius: 8px }
.added { color: light-dark(#1b7a43, #63cb90) }
.removed { color: light-dark(#b92d26, #ff938a) }
.hunk, .file { color: var(--muted) }
`
