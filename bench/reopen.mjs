// What it takes to open a long journal again in a fresh process: 10,000 steps (time), 5,000 children (memory).
//
//   npm run build && node bench/reopen.mjs [folder that keeps the journals between runs]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const built = process.env.TROUPE_DIST ? `file://${process.env.TROUPE_DIST}/` : new URL('../dist/', import.meta.url)
const { createAgentRuntime } = await import(new URL('index.js', built))
const { sqliteStore } = await import(new URL('stores/sqlite/index.js', built))

const counts = { steps: 10_000, children: 5_000 }
const inputSchema = { type: 'object', properties: {} }
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const sentence = 'Here is what was found so far, in a sentence or two. '

/** Calls a tool in every step but the last, or a hundred children. */
function model(kind) {
  let step = 0
  return {
    id: 'bench/model',
    abilities: ['tools'],
    async *stream({ system }) {
      const isChild = system.includes('a kid')
      const calls = isChild ? 0 : kind === 'steps' ? Number(++step < counts.steps) : ++step <= counts.children / 100 ? 100 : 0
      yield { type: 'text', text: sentence.repeat(4) }
      for (let i = 0; i < calls; i++)
        yield {
          type: 'call',
          id: `c${step}.${i}`,
          name: kind === 'steps' ? 'look' : 'agent__kid',
          input: JSON.stringify({ ...(kind === 'steps' ? { at: step } : { prompt: `part ${i}` }), reason: 'to know more' }),
        }
      yield { type: 'finish', reason: calls > 0 ? 'tool-calls' : 'stop', usage, costUsd: 0 }
    },
  }
}

const bounds = {
  maxToolTurns: 20_000,
  maxTokens: 1e12,
  maxSessionTokens: 1e12,
  maxCalls: 1e6,
  timeBudget: 3_600_000,
  maxChildren: 10_000,
  parallelToolCalls: 100,
  parallelChildren: 100,
}

function runtimeIn(path, kind) {
  const tools = [{ name: 'look', description: 'Looks.', inputSchema, effect: 'read', execute: ({ at }) => `${at}: ${sentence.repeat(4)}` }]
  const kid = { name: 'kid', description: 'Does a part.', prompt: `You are a kid. ${sentence.repeat(10)}`, model: 'any', tools: [] }
  const root = {
    name: 'root',
    description: 'Does it.',
    prompt: 'You are the root.',
    model: 'any',
    ...(kind === 'steps' ? { tools: ['look'] } : { agents: ['kid'] }),
    limits: bounds,
  }
  const store = sqliteStore({ path })
  return {
    store,
    runtime: createAgentRuntime({ config: { agents: [root, kid], agentSelection: { agent: 'root' }, tools }, adapter: model(kind), store }),
  }
}

async function fill(path, kind) {
  const { runtime, store } = runtimeIn(path, kind)
  const outcome = await runtime.run('Go.')
  if (outcome.status !== 'completed')
    throw new Error(`${kind}: ${JSON.stringify({ ...outcome, operations: 0, accounting: 0, snapshot: 0 }).slice(0, 2000)}`)
  writeFileSync(join(path, 'id'), outcome.sessionId)
  await runtime.close()
  await store.close()
}

/** Only what opening takes: the process, the modules and the store are there before. */
async function reopen(path, kind) {
  const { runtime, store } = runtimeIn(path, kind)
  const treeId = readFileSync(join(path, 'id'), 'utf8')
  await store.trees.list()
  const before = process.resourceUsage().maxRSS
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  await runtime.open(treeId)
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  const peak = process.resourceUsage().maxRSS / 1024
  process.stdout.write(
    `${kind}: opened in ${ms.toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of CPU time); peak ${peak.toFixed(0)} MB, of which ${(peak - before / 1024).toFixed(0)} for opening\n`,
  )
  process.exit(0)
}

const [, , given, action, kind] = process.argv
if (action === 'fill') await fill(given, kind)
else if (action === 'reopen') await reopen(given, kind)
else {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'troupe-reopen-'))
  const child = (...args) => {
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' })
    if (status !== 0) process.exit(1)
  }
  for (const each of Object.keys(counts)) {
    const path = join(folder, each)
    if (!existsSync(join(path, 'id'))) child(path, 'fill', each)
    const { size } = statSync(join(path, 'troupe.db'))
    process.stdout.write(`${each}: ${counts[each]} in ${(size / 2 ** 20).toFixed(1)} MB\n`)
    for (let round = 0; round < 3; round++) child(path, 'reopen', each)
  }
  if (given === undefined) rmSync(folder, { recursive: true })
}
