import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAgentRuntime } from '../../dist/index.js'
import { openSweepStore } from './sweep-store.mjs'

// What every subject of a sweep is made of: points at which it may be killed, effects that stay, a store that is watched.

/**
 * Lives one life of a session for each line of standard input, until the process is killed in one of them.
 *   in:  {"folder": …, "killAt": point, 0 = never, "how": kill, close or term}
 *   out: {"points": [what was passed], "outcome": …, "events": […], "lostBlobs": [ids on record without their bytes],
 *         "wrongRecords": [what usage, search and recorded requests say otherwise than the journal]}
 * `optionsWith`: the options of the runtime, without its store. `begin`: begins the session; it calls `note` with its id.
 */
export async function liveLives(optionsWith, goOn = continueSession, begin = beginRun) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { folder, killAt, how } = JSON.parse(line)
    const points = new KillPoints(killAt, how)
    const store = await openSweepStore(folder)
    const options = optionsWith(effectsIn(join(folder, 'effects.log'), points), points)
    const requestsFile = join(folder, 'requests.log')
    const adapter = noting(options.adapter, requestsFile)
    const runtime = createAgentRuntime({ ...options, adapter, store: watched(store, points) })
    points.close = () => void runtime.close()
    const unrecorded = await unrecordedEffects(store, folder)
    const outcome = await beginOrGoOn(runtime, { store, treeFile: join(folder, 'tree'), goOn, begin })
    const events = await store.journal.read(outcome.sessionId, 0)
    const lostBlobs = await blobsWithoutBytes(store, outcome.sessionId, events)
    const wrongRecords = [
      ...(await wrongTurns(store, outcome, events)),
      ...(await wrongRequests(runtime, events, requestsFile)),
      ...unrecorded,
    ]
    await runtime.close()
    await store.close()
    process.stdout.write(`${JSON.stringify({ points: points.passed, outcome, events, lostBlobs, wrongRecords })}\n`)
  }
}

/** Effects `at PATH` of sessions whose call the journal does not have: they came before the record. */
async function unrecordedEffects(store, folder) {
  const [effects, tree] = ['effects.log', 'tree'].map((name) => join(folder, name))
  if (!existsSync(effects)) return []
  const numbers = {}
  const called = new Set(['at root'])
  for (const { type, agentPath, item } of await store.journal.read(readFileSync(tree, 'utf8'), 0)) {
    const agent = type === 'interaction.item.started' && item.kind === 'call' ? (item.details?.agent ?? item.input.agent) : undefined
    if (agent === undefined) continue
    numbers[agent] = (numbers[agent] ?? 0) + 1
    called.add(`at ${agentPath}/${agent}#${numbers[agent]}`)
  }
  const lines = new Set(readFileSync(effects, 'utf8').split('\n'))
  return [...lines]
    .filter((line) => line.startsWith('at ') && !called.has(line))
    .map((line) => `an effect ${line} before the record of its call`)
}

const digest = (request) => createHash('sha256').update(JSON.stringify(request)).digest('hex')

/** Models that leave a line for each request that they get. */
function noting(adapter, file) {
  const wrap = (model) => {
    const noted = Object.create(model)
    noted.stream = (request, context) => {
      appendFileSync(file, `${digest(request)}\n`)
      return model.stream(request, context)
    }
    return noted
  }
  return adapter.stream ? wrap(adapter) : { ...adapter, resolve: (name) => wrap(adapter.resolve(name)) }
}

/** Usage and search have every turn once that has ended. */
async function wrongTurns(store, { sessionId }, events) {
  const ends = events.filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type))
  const ended = new Set(ends.map((event) => `${event.sessionId} ${event.turnId}`))
  const attempts = events.filter((event) => /step\.(completed|failed)$/.test(event.type) && ended.has(`${event.sessionId} ${event.turnId}`))
  const sum = (figure) => attempts.reduce((total, { usage }) => total + usage[figure], 0)
  const roots = ends.filter(({ agentPath }) => agentPath === 'root').length
  const { total } = await store.turns.usage({ by: 'model' })
  const wanted = [roots, attempts.length, sum('input'), sum('output')].join()
  const found = [total.turns, total.requests, total.usage.input, total.usage.output].join()
  const hits = roots === 0 ? [] : await store.trees.list({ search: 'work' })
  return [
    ...(wanted === found ? [] : [`the usage has ${found}, the journal ${wanted} (turns, requests, input, output)`]),
    ...(roots === 0 || hits.some(({ treeId }) => treeId === sessionId) ? [] : ['the session is not found']),
  ]
}

/** What is rebuilt is what a model got. A process may end after a step has begun and before its request is sent. */
async function wrongRequests(runtime, events, file) {
  const sent = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  const wrong = []
  for (const { type, treeId, sessionId, stepId, attempt } of events) {
    if (type !== 'interaction.step.started') continue
    const hasReply = events.some(
      (event) => event.type === 'interaction.step.completed' && event.sessionId === sessionId && event.stepId === stepId,
    )
    const request = await runtime.sessions.modelRequest(treeId, { sessionId, stepId, attempt })
    if (hasReply && !sent.has(digest(request))) wrong.push(`step ${stepId} of ${sessionId} sent another request`)
  }
  return wrong
}

/** Parts in results whose bytes are not in the store as they were recorded. */
async function blobsWithoutBytes(store, treeId, events) {
  const parts = events.flatMap(({ item }) => item?.parts ?? []).filter(({ blob }) => blob !== undefined)
  const stored = await Promise.all(parts.map(({ blob }) => store.blobs.getBytes(treeId, blob)))
  return parts.filter(({ bytes, mediaType }, index) => stored[index]?.bytes.length !== bytes || stored[index].mediaType !== mediaType)
}

async function beginOrGoOn(runtime, { store, treeFile, goOn, begin }) {
  const treeId = existsSync(treeFile) ? readFileSync(treeFile, 'utf8') : ''
  const before = treeId === '' ? [] : await store.journal.read(treeId, 0)
  if (before.length > 0) return goOn(runtime, { treeId, before, outcome: await runtime.sessions.outcome(treeId) })
  return begin(runtime, (sessionId) => writeFileSync(treeFile, sessionId))
}

function beginRun(runtime, note) {
  const handle = runtime.stream('Do the work.')
  note(handle.sessionId)
  return handle.outcome
}

const continueSession = async (runtime, { treeId, outcome }) =>
  outcome.status === 'completed' ? outcome : (await runtime.open(treeId)).outcome

/** Counts the points of one life, and stops the process, or what it drives, at one of them; 0 is never. */
export class KillPoints {
  passed = []
  #killAt
  #how

  /** `how`: `kill` ends the process, `close` calls `close`, and `term` does so on SIGTERM. */
  constructor(killAt, how = 'kill') {
    this.#killAt = killAt
    this.#how = how
  }

  /** A clean stop, given by the subject. */
  close = () => {}

  pass(label) {
    this.passed.push(label)
    if (this.passed.length !== this.#killAt) return
    if (this.#how === 'close') this.close()
    else if (this.#how === 'kill') process.kill(process.pid, 'SIGKILL')
    else {
      process.once('SIGTERM', () => this.close())
      process.kill(process.pid, 'SIGTERM')
    }
  }
}

/** An effect on the world: a line on disk, once it is there it stays. */
export function effectsIn(path, points) {
  return (line) => {
    points.pass(`before effect ${line}`)
    const file = openSync(path, 'a')
    writeSync(file, `${line}\n`)
    fsyncSync(file)
    closeSync(file)
    points.pass(`after effect ${line}`)
    return `did ${line}`
  }
}

/** A store with a point on either side of whatever it makes durable: batches of events, messages from outside, and bytes. */
export function watched(store, points) {
  const around = (port, method, label) => ({
    ...bound(port),
    async [method](...given) {
      const name = label(...given)
      points.pass(`before ${name}`)
      const answer = await port[method](...given)
      points.pass(`after ${name}`)
      return answer
    },
  })
  return {
    journal: around(store.journal, 'append', ({ events }) => `append by ${events.at(-1).agentPath}: ${events.at(-1).type}`),
    inbox: around(store.inbox, 'add', (_tree, _client, { kind }) => `message ${kind}`),
    blobs: around(store.blobs, 'putBytes', (_tree, _bytes, mediaType) => `blob ${mediaType}`),
    trees: store.trees,
    close: () => store.close(),
  }
}

function bound(port) {
  const methods = {}
  for (let level = port; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (name !== 'constructor' && typeof port[name] === 'function') methods[name] ??= port[name].bind(port)
    }
  }
  return methods
}
