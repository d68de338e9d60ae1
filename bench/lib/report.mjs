import { existsSync, lstatSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cpus } from 'node:os'
import { rowsTable } from './rows.mjs'
import { targetsTable } from './targets.mjs'

const med = (a) => [...a].sort((x, y) => x - y)[a.length >> 1]
const mb = (b) => `${Math.round(b / 1048576)}`
const n = (x) => (x === undefined ? '–' : x >= 1000 ? Math.round(x).toLocaleString('en') : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2))

// Installed dependency closure of some packages: how many packages, how many MB.
function footprint(pkgs) {
  const root = process.cwd(), seen = new Set()
  const find = (name, from) => {
    for (let d = from; ; d = dirname(d)) {
      const p = join(d, 'node_modules', name)
      if (existsSync(join(p, 'package.json'))) return p
      if (d === root || d === '/') return undefined
    }
  }
  const walk = (dir) => {
    if (!dir || seen.has(dir)) return
    seen.add(dir)
    const j = JSON.parse(readFileSync(join(dir, 'package.json')))
    for (const d of Object.keys({ ...j.dependencies })) walk(find(d, dir))
  }
  pkgs.forEach((p) => walk(find(p, root)))
  // A package linked by path counts only what it publishes.
  const own = (d) => lstatSync(d).isSymbolicLink() ? JSON.parse(readFileSync(join(d, 'package.json'))).files.map((f) => join(d, f)).filter(existsSync).reduce((s, f) => s + (statSync(f).isDirectory() ? size(f) : statSync(f).size), 0) : size(d)
  const size = (d) => readdirSync(d, { withFileTypes: true }).reduce((s, e) => e.name === 'node_modules' ? s : s + (e.isDirectory() ? size(join(d, e.name)) : e.isFile() ? statSync(join(d, e.name)).size : 0), 0)
  return { count: seen.size, bytes: [...seen].reduce((s, d) => s + own(d), 0) }
}

export function report(raw, peers, rows) {
  const ok = (p, w) => (raw[p]?.[w] ?? []).filter((o) => !o.error)
  // Best (least disturbed) round by minimum, and the median of the rounds' medians.
  const get = (p, w) => {
    const a = ok(p, w)
    if (!a.length) return raw[p]?.[w]?.[0]?.error ? { error: raw[p][w][0].error } : undefined
    return { min: Math.min(...a.map((o) => o.min)), median: med(a.map((o) => o.median)), cpu: Math.min(...a.map((o) => o.cpu)), churn: med(a.map((o) => o.churn ?? 0)), retained: med(a.map((o) => o.retained ?? 0)), peak: med(a.map((o) => o.peak ?? 0)) }
  }
  const order = ['bare', 'bare-json', ...Object.keys(raw).filter((p) => !p.startsWith('bare')).sort((a, b) => (get(a, 'w1')?.min ?? 1e9) - (get(b, 'w1')?.min ?? 1e9))].filter((p) => raw[p])
  const floor = (w) => get('bare', w)?.min
  const cell = (p, w) => {
    const g = get(p, w)
    if (!g) return '–'
    if (g.error) return 'failed'
    return p === 'bare' ? `${n(g.min)} / ${n(g.median)}` : `${n(g.min)} / ${n(g.median)} (${n(g.min / floor(w))}×)`
  }
  const table = (head, rows) => [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((r) => `| ${r.join(' | ')} |`)].join('\n')
  const rounds = Math.max(...order.map((p) => ok(p, 'w1').length))
  const loads = [...order.flatMap((p) => Object.values(raw[p]).flat()), ...Object.values(rows).flat()].map((o) => o.load).filter(Boolean)

  const main = table(
    ['peer', 'W1 µs/turn', 'W1z zod µs/turn', 'W1g non-stream µs/turn', 'W2 µs/turn (3 calls)', 'W3 µs/sub-agent call'],
    order.map((p) => [peers[p].title, cell(p, 'w1'), cell(p, 'w1z'), peers[p].flags.includes('stream-only') ? 'n/a' : cell(p, 'w1g'), cell(p, 'w2'), cell(p, 'w3')]))
  const scale = table(
    ['peer', 'W4 500 sessions, wall ms', 'W4 sessions/s', 'W4 peak RSS MB', 'W5 cold start ms', 'W5 RSS MB', 'W6 µs/turn 50', '200', '800', 'growth 800/50'],
    order.map((p) => {
      const w4 = get(p, 'w4'), c = ok(p, 'w5')
      const g = ['w6_50', 'w6_200', 'w6_800'].map((w) => get(p, w))
      const v = (x) => (x?.error ? 'failed' : n(x?.min))
      return [peers[p].title, cell(p, 'w4'), w4?.min ? n(500_000 / w4.min) : '–', w4?.peak ? mb(w4.peak) : '–',
        c.length ? `${n(Math.min(...c.map((o) => o.ms)))} / ${n(med(c.map((o) => o.ms)))}` : '–', c.length ? mb(med(c.map((o) => o.rss))) : '–',
        ...g.map(v), g[0]?.min && g[2]?.min ? `${(g[2].min / g[0].min).toFixed(1)}×` : '–']
    }))
  const mem = table(
    ['peer', 'versions', 'W1 CPU µs/turn', 'W1 heap allocated KB/turn', 'W1 heap kept KB/run', 'W3 heap kept KB/run', 'installed packages', 'installed MB'],
    order.map((p) => {
      const w1 = get(p, 'w1'), w3 = get(p, 'w3')
      const f = footprint(peers[p].versions.map((v) => v.slice(0, v.lastIndexOf('@'))))
      return [peers[p].title, peers[p].versions.join(', ') || '–', n(w1?.cpu), w1 ? n(w1.churn / 1024) : '–', w1 ? (w1.retained / 1024).toFixed(1) : '–', w3?.retained !== undefined ? (w3.retained / 1024).toFixed(1) : '–', f.count || '0', mb(f.bytes)]
    }))
  const failures = order.flatMap((p) => Object.keys(raw[p]).filter((w) => get(p, w)?.error).map((w) => `- ${peers[p].title}, ${w}: ${get(p, w).error}`))
  return `# Framework overhead, same work, in-process mock model

Node ${process.version}, ${cpus().length} cores, load ${Math.min(...loads).toFixed(1)}–${Math.max(...loads).toFixed(1)} while measuring, ${rounds} interleaved round${rounds === 1 ? '' : 's'}, each measurement alone in its own process.
Cells: **minimum over all rounds / median of the rounds' medians (minimum ÷ bare loop's minimum)**. Lower is better.
Every run is checked: exact number of model calls, tool executions, streamed chunks and the final text.

![W1 and W4 of each peer, and figures of the server, bars on a log scale](chart.svg)

## Our targets

${targetsTable(raw, peers)}

Ratios of two minimums of one run, computed by lib/targets.mjs. A target that has not been measured in the same run as its reference says so.

## Latency

${main}

W1: 1 agent, 10 JSON-schema tools, 20 turns of 1 tool call, then 50 text chunks. W1z: same, tools declared with zod. W1g: same through the non-streaming API. W2: 3 parallel calls a turn. W3: parent calls a sub-agent (2 turns of 1 call, then text) as a tool 10 times; per sub-agent call.
${failures.length ? `\nFailed:\n${failures.join('\n')}\n` : ''}
## Scale

${scale}

W4: 500 concurrent 5-turn sessions, each model call yields one macrotask. W5: process spawn to first model call. W6: W1 with 50 / 200 / 800 turns (minimums).

## Server and command line

${rowsTable(rows)}

Minimums over all rounds; the time of a command is the median of ten runs. Start: from the request to the first model request, when all
sessions start within half a second. Step: the time between two model requests of a session, less that of the model.

## Memory and footprint

${mem}

Heap kept: growth of the collected heap over 25 runs, per run (negative: caches from warm-up were freed). Installed: dependency closure in node_modules.

${readFileSync('lib/notes.md', 'utf8')}`
}
