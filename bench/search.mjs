// Search, lists and usage over 10,000 sessions with three turns of about 1 KB, and what a turn's end costs with and without records.
//
//   npm run build && node bench/search.mjs [number of sessions]
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const built = process.env.TROUPE_DIST ? `file://${process.env.TROUPE_DIST}/` : new URL('../dist/', import.meta.url)
const { sqliteStore } = await import(new URL('stores/sqlite/index.js', built))

const sessions = Number(process.argv[2] ?? 10_000)
const turnsPerSession = 3
const path = mkdtempSync(join(tmpdir(), 'troupe-search-'))
const store = sqliteStore({ path })

// Some words are frequent, most are rare, as in a language. The same numbers in every run.
let seed = 1
const random = () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}
const wordOf = (index) => `w${((index * 7_919) % 20_000).toString(36)}`
const text = () => `everywhere ${Array.from({ length: 180 }, () => wordOf(Math.floor(20_000 * random() ** 4))).join(' ')}`
const usage = { input: 1000, output: 200, cacheRead: 500, cacheWrite: 0, reasoning: 50 }

function turnOf(seq, at, { agent = 'root', isChild = false } = {}) {
  const model = { model: `p/m${seq % 5}`, requests: 3, failed: 0, usage, costUsd: 0.0123, unpriced: 0, latencyMs: 1500 + (at % 97) }
  const texts = isChild
    ? []
    : [
        { kind: 'message', text: text() },
        { kind: 'answer', text: text() },
      ]
  const record = { seq, at, sessionId: `s${agent}`, turnId: `t${seq}`, agent, isChild, status: 'completed', workMs: 2000 + (at % 997) }
  return { ...record, texts, models: [model] }
}

const start = Date.UTC(2026, 0, 1)
const eventOf = (treeId, seq) => ({
  seq,
  treeId,
  sessionId: 'session',
  agentPath: 'root',
  at: start + seq,
  type: 'interaction.item.completed',
  item: { kind: 'text', id: `t1.s1.${seq}`, type: 'agent_message', status: 'completed', text: 'x'.repeat(2000), metadata: {} },
})

async function fill(index) {
  const treeId = `tree-${index}`
  const { epoch } = await store.journal.claim(treeId, 'bench')
  const summary = { agent: 'root', title: `Session ${index}`, status: 'completed', openRequests: 0 }
  for (let seq = 1; seq <= turnsPerSession; seq += 1) {
    const at = start + (index * turnsPerSession + seq) * 60_000
    const turns = [turnOf(seq, at, { agent: 'child', isChild: true }), turnOf(seq, at)]
    const identity = { owner: `user-${index % 50}` }
    await store.journal.append({ treeId, epoch, expectedSeq: seq - 1, events: [eventOf(treeId, seq)], summary, identity, turns })
  }
  await store.journal.release(treeId, epoch)
}

const quantile = (times, part) => times.toSorted((one, other) => one - other)[Math.ceil(times.length * part) - 1]
const shown = (ms) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`

async function timeOf(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function report(name, times) {
  console.log(`${name.padEnd(58)} median ${shown(quantile(times, 0.5)).padStart(9)}   p95 ${shown(quantile(times, 0.95)).padStart(9)}`)
}

async function measure(name, runs, work) {
  const times = []
  for (let run = 0; run < runs; run += 1) times.push(await timeOf(() => work(run)))
  report(name, times)
}

/** The longest time in which nothing else ran. */
async function blocked(work) {
  let [longest, last, runs] = [0, performance.now(), true]
  const watch = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (runs) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  runs = false
  return longest
}

const begun = performance.now()
for (let from = 0; from < sessions; from += 100) await Promise.all(Array.from({ length: 100 }, (_, each) => fill(from + each)))
console.log(`filled with ${sessions} sessions in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
await store.trees.list({ search: 'everywhere', limit: 1 })

await measure('search: a rare word', 40, (run) => store.trees.list({ search: wordOf(15_000 + run * 97), limit: 50 }))
await measure('search: a word that is everywhere', 40, () => store.trees.list({ search: 'everywhere', limit: 50 }))
await measure('search: one letter', 40, () => store.trees.list({ search: 'w', limit: 50 }))
await measure('search: three frequent words', 40, () => store.trees.list({ search: `${wordOf(0)} ${wordOf(1)} ${wordOf(2)}`, limit: 50 }))
await measure('search: a phrase', 40, () => store.trees.list({ search: `${wordOf(0)}-${wordOf(1)}`, limit: 50 }))
await measure('search: everywhere, of one owner, over $0.01', 40, () =>
  store.trees.list({ search: 'everywhere', owner: 'user-7', minCostUsd: 0.01, limit: 50 }),
)
await measure('search: % (all texts are read)', 20, () => store.trees.list({ search: '%', limit: 50 }))
await measure('search: everywhere, all sessions', 5, () => store.trees.list({ search: 'everywhere' }))
await measure('list: 50 sessions', 40, () => store.trees.list({ limit: 50 }))
for (const by of ['agent', 'model', 'day', 'person']) await measure(`usage by ${by}`, 20, () => store.turns.usage({ by }))
await measure('usage by model, of one owner', 20, () => store.turns.usage({ by: 'model', owner: 'user-7' }))
await measure('unindexed', 20, () => store.turns.unindexed())

// Alternately, so that both see the same disk.
const ends = await Promise.all(
  ['without', 'with'].map(async (kind) => ({ kind, ...(await store.journal.claim(`end-${kind}`, 'bench')), times: [] })),
)
for (let run = 0; run < 1000; run += 1)
  for (const { kind, epoch, times } of ends) {
    const treeId = `end-${kind}`
    const turns = kind === 'with' ? { turns: [turnOf(run + 1, start)] } : {}
    const batch = { treeId, epoch, expectedSeq: run, events: [eventOf(treeId, run + 1)], ...turns }
    times.push(await timeOf(() => store.journal.append(batch)))
  }
for (const { kind, times } of ends) report(`append that ends a turn, ${kind} records`, times)

const rebuilding = performance.now()
const longest = await blocked(() => store.turns.rebuildIndex())
console.log(`rebuilt in ${((performance.now() - rebuilding) / 1000).toFixed(1)} s; the longest step took ${shown(longest)}`)
await measure('search: a word that is everywhere, after the rebuild', 20, () => store.trees.list({ search: 'everywhere', limit: 50 }))
await store.close()
console.log(`the database has ${(statSync(join(path, 'troupe.db')).size / 1e6).toFixed(0)} MB`)
rmSync(path, { recursive: true })
