// Our own targets, as ratios of two figures of the same run: computed from the raw results, never written by hand.
// Both figures are the least disturbed ones (minimum over the rounds of that run).

const FASTEST = 'the fastest peer'

export const targets = [
  { peer: 'troupe', workload: 'w1', over: 'bare', limit: 4 },
  { peer: 'troupe', workload: 'w1', over: FASTEST, limit: 0.5 },
  { peer: 'troupe', workload: 'w2', over: 'bare', limit: 3 },
  { peer: 'troupe', workload: 'w3', over: 'bare', limit: 4 },
  { peer: 'troupe', workload: 'w3', over: FASTEST, limit: 1, below: true },
  { peer: 'troupe', workload: 'w4', over: 'bare', limit: 3 },
  { peer: 'troupe', workload: 'w5', over: 'bare', limit: 3 },
  { peer: 'troupe', workload: 'w6_800', over: 'troupe', overWorkload: 'w6_50', limit: 1.4 },
  { peer: 'troupe-sqlite', workload: 'w1', over: 'ai-sdk', limit: 1, below: true },
  { peer: 'troupe-sqlite', workload: 'w4', over: 'ai-sdk', limit: 0.25 },
]

const ours = (peer) => peer.startsWith('troupe')
const isPeer = (peer) => !ours(peer) && !peer.startsWith('bare')
const median = (a) => [...a].sort((x, y) => x - y)[a.length >> 1]

// Figures of one cell in one run; undefined where it was not measured, or failed.
function figures(raw, { peer, workload, run }) {
  const good = (raw[peer]?.[workload] ?? []).filter((o) => o.run === run && !o.error)
  if (!good.length) return undefined
  return { min: Math.min(...good.map((o) => o.min ?? o.ms)), median: median(good.map((o) => o.median ?? o.ms)) }
}

// What a target is measured against. The fastest peer is known only from a run with all of them.
function reference(raw, target, run) {
  const workload = target.overWorkload ?? target.workload
  if (target.over !== FASTEST) {
    const found = figures(raw, { peer: target.over, workload, run })
    return found && { peer: target.over, workload, ...found }
  }
  const all = Object.keys(raw).filter((peer) => isPeer(peer) && raw[peer][workload]?.some((o) => !o.error))
  const found = all.map((peer) => ({ peer, workload, ...figures(raw, { peer, workload, run }) }))
  if (!found.length || found.some((f) => f.min === undefined)) return undefined
  return found.reduce((a, b) => (b.min < a.min ? b : a))
}

// For each target: met, missed, failed (we were tried and did not get through), or not measured; newest run that can tell.
export function assess(raw, list = targets) {
  return list.map((target) => {
    const tried = raw[target.peer]?.[target.workload] ?? []
    const runs = [...new Set(tried.map((o) => o.run))].reverse()
    if (runs.length && !figures(raw, { ...target, run: runs[0] })) return { target, status: 'failed', error: tried.at(-1).error }
    for (const run of runs) {
      const own = figures(raw, { ...target, run })
      const base = own && reference(raw, target, run)
      if (!base) continue
      const ratio = own.min / base.min
      const met = target.below ? ratio < target.limit : ratio <= target.limit
      return { target, status: met ? 'met' : 'missed', ratio, medianRatio: own.median / base.median, own, base }
    }
    return { target, status: 'not measured' }
  })
}

const unit = (workload) => (workload === 'w4' || workload === 'w5' ? 'ms' : 'µs')
const n = (x) => (x >= 100 ? Math.round(x).toLocaleString('en') : x >= 10 ? x.toFixed(1) : x.toFixed(2))
const figure = (x, workload) => `${n(x)} ${unit(workload)}`

// The rows of the report. `peers` gives the titles.
export function targetsTable(raw, peers) {
  const title = (peer) => peers[peer]?.title ?? peer
  const rows = assess(raw).map(({ target: t, status, ratio, medianRatio, own, base, error }) => {
    const against = t.overWorkload ? `its own ${t.overWorkload}` : base && t.over === FASTEST ? `${t.over} (${title(base.peer)})` : title(t.over)
    const measured = own ? `${figure(own.min, t.workload)} ÷ ${figure(base.min, base.workload)}` : error ?? '–'
    const got = ratio === undefined ? '–' : `${n(ratio)}× (medians ${n(medianRatio)}×)`
    return `| ${title(t.peer)} | ${t.workload} | ${t.below ? 'below' : 'at most'} ${t.limit}× ${against} | ${measured} | ${got} | ${status === 'met' ? 'met' : `**${status}**`} |`
  })
  return ['| row | workload | target | measured | ratio | |', '|---|---|---|---|---|---|', ...rows].join('\n')
}
