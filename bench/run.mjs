// npm run bench -- [--rounds=3] [--peers=a,b] [--only=w1,w4,load] [--report]
// Every measurement is its own process, one at a time; rounds interleave the peers so drift hits all alike.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resultsChart } from './lib/chart.mjs'
import { report } from './lib/report.mjs'
import { figure } from './lib/rows.mjs'

const arg = (k, d) => process.argv.find((a) => a.startsWith(`--${k}=`))?.split('=')[1] ?? d
// The server and the command line of Troupe: scripts that print rows.
const scripts = { load: [['load.mjs', 'memory'], ['load.mjs', 'sqlite']], headends: [['headends.mjs']], replay: [['streams.mjs', 'read']], start: [['start.mjs', '10']] }
const ALL = ['w1', 'w1z', 'w1g', 'w2', 'w3', 'w4', 'w5', 'w6_50', 'w6_200', 'w6_800', ...Object.keys(scripts)]
const workloads = arg('only', ALL.join()).split(',')
const rounds = Number(arg('rounds', 3))

// A peer is one file in peers/, first line `// peer: Title | npm packages | flags`.
const peers = Object.fromEntries(readdirSync('peers').filter((f) => f.endsWith('.mjs')).map((f) => {
  const [title, pkgs = '-', flags = ''] = readFileSync(`peers/${f}`, 'utf8').split('\n', 1)[0].replace('// peer: ', '').split('|').map((s) => s.trim())
  const versions = pkgs === '-' ? [] : pkgs.split(' ').map((p) => `${p}@${existsSync(`node_modules/${p}/package.json`) ? JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version : 'not installed'}`)
  return [f.slice(0, -4), { title, versions, flags }]
}))
const names = arg('peers', ['bare', 'bare-json', ...Object.keys(peers).filter((p) => !p.startsWith('bare'))].join()).split(',')
const wrong = [...names.filter((p) => !peers[p]).map((p) => `peer ${p}: one of ${Object.keys(peers).join(', ')}`), ...workloads.filter((w) => !ALL.includes(w)).map((w) => `workload ${w}: one of ${ALL.join(', ')}`), ...(rounds > 0 ? [] : ['number of rounds: one above 0'])]
if (wrong.length) {
  console.error(wrong.map((w) => `unknown ${w}`).join('\n'))
  process.exit(2)
}

function child(peer, w) {
  const t = performance.timeOrigin + performance.now()
  const flags = w === 'w5' ? [] : ['--expose-gc']
  const r = spawnSync(process.execPath, [...flags, 'lib/child.mjs', peer, w], { encoding: 'utf8', timeout: 240_000, env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' } })
  const line = r.stdout?.split('\n').find((l) => l.startsWith('@@'))
  if (!line) return { error: (r.error?.message ?? r.stderr ?? '').split('\n').find((l) => /^\w*Error\b|TIMEDOUT/.test(l))?.replaceAll(`${process.cwd()}/`, '') ?? `exit ${r.status}` }
  const o = JSON.parse(line.slice(2))
  return w === 'w5' ? { ms: o.at - t, rss: o.rss } : o
}

function measureRows(script) {
  const { stdout, stderr } = spawnSync(process.execPath, [...script, '--rows'], { encoding: 'utf8', timeout: 240_000 })
  const found = (stdout ?? '').split('\n').filter((l) => l.startsWith('@@')).map((l) => JSON.parse(l.slice(2)))
  if (found.length === 0) console.error(`${script.join(' ')} failed: ${stderr}`)
  return found
}

mkdirSync('results', { recursive: true })
const file = 'results/raw.json'
const raw = existsSync(file) ? JSON.parse(readFileSync(file)) : {}
const rowsFile = 'results/rows.json'
const rows = existsSync(rowsFile) ? JSON.parse(readFileSync(rowsFile)) : {}
const run = Date.now() // targets compare figures of one run only
if (!process.argv.includes('--report')) {
  for (let r = 0; r < rounds; r++) for (const script of names.includes('troupe') ? workloads.flatMap((w) => scripts[w] ?? []) : []) {
    for (const { name, ...row } of measureRows(script)) {
      rows[name] = [...(rows[name] ?? []).filter((old) => old.run === run), { ...row, run, load: loadavg()[0] }]
      console.error(`round ${r + 1} ${name}: ${figure(row.value)} ${row.unit}`)
    }
    writeFileSync(rowsFile, JSON.stringify(rows))
  }
  for (let r = 0; r < rounds; r++) for (const w of workloads.filter((w) => !scripts[w])) for (const p of names) {
    if (w === 'w1g' && peers[p].flags.includes('stream-only')) continue
    const times = w === 'w5' ? 7 : 1
    for (let i = 0; i < times; i++) {
      const o = child(p, w)
      o.load = loadavg()[0]
      o.run = run
      const cell = (raw[p] ??= {})
      cell[w] = [...(cell[w] ?? []).filter((old) => old.run === run), o] // what an older run said of this cell no longer counts
      if (i === 0) console.error(`round ${r + 1} ${w} ${p}: ${o.error ?? (o.ms ?? o.min).toFixed(1)} (load ${o.load.toFixed(1)})`)
    }
    writeFileSync(file, JSON.stringify(raw))
  }
}
const chart = resultsChart(raw, peers, rows)
if (chart) writeFileSync('chart.svg', chart)
const text = report(raw, peers, rows)
writeFileSync('RESULTS.md', text)
console.log(text)
