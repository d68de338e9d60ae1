// Bars on a log scale as plain SVG: one panel a workload, one bar a peer, ours in colour.
import { leastOf } from './rows.mjs'

const WIDTH = 860, LABEL = 290, VALUE = 80, ROW = 22, BAR = 14, HEAD = 46, GAP = 34
const escape = (s) => String(s).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])
const n = (x) => (x >= 100 ? Math.round(x).toLocaleString('en') : x >= 10 ? x.toFixed(1) : x.toFixed(2))
const text = (x, y, s, more = '') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${escape(s)}</text>`

// panels: [{ title, rows: [{ label, value, ours }] }]
export function chart(panels) {
  let top = 10
  const parts = panels.map(({ title, rows }) => {
    const at = top
    const bottom = at + HEAD + rows.length * ROW
    top = bottom + GAP
    const values = rows.map((r) => r.value)
    const from = Math.floor(Math.log10(Math.min(...values)))
    const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))
    const x = (v) => LABEL + ((Math.log10(v) - from) / (to - from)) * (WIDTH - LABEL - VALUE)
    const grid = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)).flatMap((v) => [
      `<line x1="${x(v).toFixed(1)}" x2="${x(v).toFixed(1)}" y1="${at + HEAD - 6}" y2="${bottom}" stroke="#ddd"/>`,
      text(x(v), at + HEAD - 11, v.toLocaleString('en'), ' text-anchor="middle" fill="#777"'),
    ])
    const bars = rows.flatMap((r, i) => {
      const y = at + HEAD + i * ROW
      const width = Math.max(1, x(r.value) - LABEL)
      return [
        text(LABEL - 8, y + 11, r.label, ` text-anchor="end"${r.ours ? ' font-weight="bold"' : ''}`),
        `<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${r.ours ? '#d9480f' : '#8a97a6'}"/>`,
        text(LABEL + width + 5, y + 11, n(r.value)),
      ]
    })
    return [text(10, at + 16, title, ' font-weight="bold" font-size="14"'), ...grid, ...bars].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" font-family="system-ui, sans-serif" font-size="12" fill="#222" role="img" aria-label="${escape(panels.map((p) => p.title).join('; '))}">
<rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}

const shown = [['w1', 'W1: one session, µs a turn (log scale, shorter is better)'], ['w4', 'W4: 500 sessions at once, ms (log scale, shorter is better)']]

// Rows of the server and the command line.
function rowPanels(rows) {
  const least = Object.entries(rows).map(([label, rounds]) => ({ label, ours: true, ...leastOf(rounds) }))
  return [
    { title: 'Latency of the server, ms (log scale, shorter is better)', rows: least.filter(({ label }) => label.endsWith('p95')).map((row) => ({ ...row, value: Math.max(row.value, 0.01) })) },
    { title: 'Multiples of the simplest program (log scale, shorter is better)', rows: least.filter(({ base }) => base).map(({ base, ...row }) => ({ ...row, label: `${row.label} ÷ ${base.title}`, value: row.value / base.value })) },
  ]
}

// The report's chart: the minimum of each peer over all rounds, the fastest on top. Undefined before anything was measured.
export function resultsChart(raw, peers, rows = {}) {
  const panels = [...shown.map(([workload, title]) => ({
    title,
    rows: Object.keys(raw)
      .map((peer) => ({ label: peers[peer]?.title ?? peer, ours: peer.startsWith('troupe'), value: Math.min(...(raw[peer][workload] ?? []).filter((o) => !o.error).map((o) => o.min)) }))
      .filter((row) => Number.isFinite(row.value))
      .sort((a, b) => a.value - b.value),
  })), ...rowPanels(rows)].filter((panel) => panel.rows.length > 0)
  return panels.length > 0 ? chart(panels) : undefined
}
