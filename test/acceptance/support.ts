/* Shared by the acceptance suite. Uses public surfaces only. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { AppendBatch, Store } from '../../src/contracts/index.ts'
import {
  type AgentDefinition,
  type AgentLimits,
  type AgentLoopConfig,
  type AgentRuntime,
  type ApprovalRequest,
  type Approver,
  createAgentRuntime,
  type InteractionEvent,
  type JsonSchema,
  type Model,
  type ModelPart,
  type ModelRequest,
  type Outcome,
  type RunHandle,
  type RuntimeOptions,
  type StreamEvent,
  type Tool,
  type TreeId,
  TroupeError,
} from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource, sequentialIds } from '../../src/testing/index.ts'

export const agent: AgentDefinition = { name: 'clerk', description: 'Does things', prompt: 'You are a clerk.', model: 'scripted/model' }

export interface Setup extends Partial<Omit<RuntimeOptions, 'config'>> {
  readonly steps?: readonly ScriptedStepSource[]
  readonly tools?: AgentLoopConfig['tools']
  readonly limits?: Partial<AgentLimits>
  readonly config?: Partial<AgentLoopConfig>
}
export interface World {
  readonly runtime: AgentRuntime
  readonly model: ScriptedModel
  readonly store: Store
  readonly clock: FakeClock
}

let serial = 0
/** A runtime on a fake clock, sequential ids and a memory store; closed when the test ends. */
export function world(setup: Setup = {}): World {
  const { steps = [], tools, limits, config, ...options } = setup
  const model = new ScriptedModel(steps)
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock()
  const store = options.store ?? memoryStore()
  serial += 1
  const runtime = createAgentRuntime({
    config: { agents: [agent], ...(tools && { tools }), ...(limits && { limits }), ...config },
    adapter: model,
    ids: sequentialIds(`w${serial}`),
    ...options,
    clock,
    store,
  })
  onTestFinished(async () => {
    await bounded(runtime.close(), 'close', 1000).catch(() => undefined)
  })
  return { runtime, model, store, clock }
}

const objectSchema = (properties: object = {}, required: readonly string[] = []): JsonSchema => ({ type: 'object', properties, required })

type ToolShape = Omit<Tool, 'description' | 'inputSchema' | 'execute' | 'name'> & {
  readonly schema?: JsonSchema
  readonly execute?: Tool['execute']
}
/** A tool with sensible fillers. */
export function tool(name: string, shape: ToolShape = {}): Tool {
  const { schema, execute, ...rest } = shape
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: schema ?? objectSchema(),
    execute: execute ?? (() => `${name} done`),
    ...rest,
  }
}
export { objectSchema }

/** All microtasks and immediates that follow from what was done so far. */
export async function settle(rounds = 5): Promise<void> {
  for (let i = 0; i < rounds; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits for a condition without sleeping; fails after five seconds. */
export async function until(what: string, condition: () => unknown | Promise<unknown>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms
  for (let rounds = 0; !(await condition()); rounds += 1) {
    if (Date.now() > end) throw new Error(`never came true: ${what}`)
    // What takes longer than a few turns of the event loop waits for another process.
    await new Promise((resolve) => (rounds < 1000 ? setImmediate(resolve) : setTimeout(resolve, 5)))
  }
}

/** Fails instead of hanging. */
export async function bounded<T>(work: Promise<T>, what = 'this', ms = 30_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Turns the fake clock until the work ends. */
export async function elapsing<T>(
  clock: FakeClock,
  work: Promise<T>,
  [stepMs, most]: readonly [number, number] = [1000, 2000],
): Promise<T> {
  let done = false
  const watched = work.finally(() => {
    done = true
  })
  watched.catch(() => undefined)
  for (let i = 0; i < most && !done; i += 1) await clock.elapse(stepMs)
  return bounded(watched, 'the work on the fake clock')
}

export async function journalOf(store: Store, treeId: TreeId): Promise<readonly InteractionEvent[]> {
  return store.journal.read(treeId, 0)
}

export async function collect(handle: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of handle) events.push(event)
  return events
}

export const durable = (events: readonly StreamEvent[]): InteractionEvent[] =>
  events.filter((event): event is InteractionEvent => 'seq' in event)

export function ofType<T extends StreamEvent['type']>(events: readonly StreamEvent[], type: T): Extract<StreamEvent, { type: T }>[] {
  return events.filter((event): event is Extract<StreamEvent, { type: T }> => event.type === type)
}

export async function finish(handle: RunHandle): Promise<Outcome> {
  return bounded(handle.outcome, 'the outcome')
}

export const firstTree = async (store: Store): Promise<TreeId> => {
  const [entry] = await store.trees.list()
  if (!entry) throw new Error('no tree in the store')
  return entry.treeId
}

/** The results that the model was shown in its n-th request, newest tool message. */
export function resultsIn(request: ModelRequest | undefined): readonly { id: string; name: string; ok: boolean; content: string }[] {
  const message = request?.messages.findLast((each) => each.role === 'tool')
  return message?.role === 'tool' ? message.results : []
}

export const requestText = (request: ModelRequest | undefined): string => JSON.stringify(request)

const turnEnds = new Set(['interaction.turn.completed', 'interaction.turn.failed', 'interaction.turn.interrupted'])
const stepEnds = new Set(['interaction.step.completed', 'interaction.step.failed'])

/** "Each started item reaches exactly one terminal status; each turn ends exactly once; no event follows a terminal one." */
export function expectLegal(events: readonly InteractionEvent[], { settled = true } = {}): void {
  const items = new Map<string, 'open' | 'ended'>()
  const turns = new Map<string, 'open' | 'ended'>()
  let step: string | undefined
  let expected = events[0]?.seq ?? 1
  for (const event of events) {
    expect(event.seq, 'seq is gap-free').toBe(expected)
    expected += 1
    const where = `${event.seq} ${event.type}`
    if (event.turnId !== undefined && event.type !== 'interaction.turn.started')
      expect(turns.get(event.turnId), `${where}: an event of a turn that is not open`).toBe('open')
    if (event.type === 'interaction.turn.started') {
      expect(turns.has(event.turnId ?? ''), `${where}: a turn starts once`).toBe(false)
      turns.set(event.turnId ?? '', 'open')
    }
    if (turnEnds.has(event.type)) {
      expect(
        [...items].filter(([, state]) => state === 'open').map(([id]) => id),
        `${where}: items still open at the end of a turn`,
      ).toEqual([])
      expect(step, `${where}: a step still open at the end of a turn`).toBeUndefined()
      turns.set(event.turnId ?? '', 'ended')
    }
    if (event.type === 'interaction.step.started') {
      expect(step, `${where}: one step at a time`).toBeUndefined()
      step = event.stepId
    }
    if (stepEnds.has(event.type)) {
      expect(step, `${where}: ends the open step`).toBe(event.stepId)
      step = undefined
    }
    if (event.type === 'interaction.item.started') {
      const key = itemKey(event)
      expect(items.get(key), `${where}: an item starts once`).not.toBe('open')
      items.set(key, 'open')
    }
    if (event.type === 'interaction.item.updated') expect(items.get(itemKey(event)), `${where}: updates an open item`).toBe('open')
    if (event.type === 'interaction.item.completed') {
      const key = itemKey(event)
      expect(items.get(key), `${where}: ends an open item`).toBe('open')
      items.set(key, 'ended')
    }
    if (event.type === 'interaction.session.idle') expect([...turns.values()], `${where}: idle with an open turn`).not.toContain('open')
  }
  if (!settled) return
  expect([...items.values()], 'every item ended').not.toContain('open')
  expect([...turns.values()], 'every turn ended').not.toContain('open')
}
const itemKey = (event: InteractionEvent): string => `${event.sessionId}/${event.itemId}`

/** Everything that an outcome always has. */
export function expectWhole(outcome: Outcome): void {
  expect(outcome).toMatchObject({
    status: expect.stringMatching(/^(completed|partial|failed|interrupted|suspended)$/),
    sessionId: expect.any(String),
    usage: { input: expect.any(Number), output: expect.any(Number) },
    accounting: expect.any(Array),
    trace: { originId: expect.any(String), callPath: expect.any(String), turnPath: expect.any(String) },
    diagnostics: expect.any(Array),
    snapshot: { version: 1, seq: expect.any(Number), history: expect.any(Array), selectedAgent: expect.any(Object) },
  })
  expect(outcome.cost === 'unknown' || typeof outcome.cost === 'number').toBe(true)
  expect('operations' in outcome).toBe(true)
  if (outcome.status === 'completed' || outcome.status === 'partial') expect(outcome.report?.text).toEqual(expect.any(String))
  if (outcome.status !== 'completed') expect(outcome.reason).toEqual(expect.any(String))
  expect(JSON.parse(JSON.stringify(outcome.snapshot)), 'the snapshot is plain JSON').toEqual(outcome.snapshot)
}

/** A model made of raw parts, for what a ScriptedModel would never say. */
export function rawModel(replies: readonly ((request: ModelRequest, signal: AbortSignal) => unknown)[], more: Partial<Model> = {}) {
  const requests: ModelRequest[] = []
  const model: Model = {
    id: 'raw/model',
    abilities: ['tools'],
    stream(request, { signal }) {
      const reply = replies[requests.push(structuredClone(request)) - 1]
      if (!reply) return parts([{ type: 'error', failure: { class: 'config', message: `request ${requests.length} was not expected` } }])
      return reply(request, signal) as AsyncIterable<ModelPart>
    },
    ...more,
  }
  return { model, requests }
}
export async function* parts(list: readonly unknown[]): AsyncGenerator<ModelPart> {
  for (const part of list) yield part as ModelPart
}
export const textReply = (text: string) => () =>
  parts([
    { type: 'text', text },
    { type: 'finish', reason: 'stop' },
  ])

export interface Hold {
  /** Resolves when an append that matches has been asked for; nothing of it is stored yet. */
  readonly reached: Promise<AppendBatch>
  release(): void
}
/** A store whose appends can be held back or made to fail, and that notes in which order things became durable. */
export function watchedStore(inner: Store = memoryStore()) {
  const log: string[] = []
  const batches: AppendBatch[] = []
  const holds: { test: (batch: AppendBatch) => boolean; arrived: (batch: AppendBatch) => void; gate: Promise<void> }[] = []
  const state = { fail: undefined as ((batch: AppendBatch, n: number) => unknown) | undefined }
  const store: Store = {
    ...pick(inner),
    journal: {
      claim: (treeId, owner) => inner.journal.claim(treeId, owner),
      release: (treeId, epoch) => inner.journal.release(treeId, epoch),
      read: (treeId, after, limit) => inner.journal.read(treeId, after, limit),
      watch: (treeId, wake) => inner.journal.watch(treeId, wake),
      // In the order of the calls, as a real medium would: whatever comes behind a held batch waits with it.
      append(batch) {
        const n = batches.push(batch)
        const failure = state.fail?.(batch, n)
        if (failure !== undefined) return Promise.reject(failure)
        const answer = last.then(() => write(batch))
        last = answer.catch(() => undefined)
        return answer
      },
    },
  }
  let last: Promise<unknown> = Promise.resolve()
  async function write(batch: AppendBatch) {
    const index = holds.findIndex(({ test }) => test(batch))
    if (index !== -1) {
      const [hold] = holds.splice(index, 1)
      hold?.arrived(batch)
      await hold?.gate
    }
    const answer = await inner.journal.append(batch)
    for (const event of batch.events) log.push(`durable ${event.seq} ${event.type}`)
    return answer
  }
  return {
    store,
    inner,
    log,
    batches,
    failWhen(test: (batch: AppendBatch, n: number) => unknown) {
      state.fail = test
    },
    hold(test: (batch: AppendBatch) => boolean): Hold {
      const reached = Promise.withResolvers<AppendBatch>()
      const gate = Promise.withResolvers<void>()
      holds.push({ test, arrived: reached.resolve, gate: gate.promise })
      return { reached: reached.promise, release: () => gate.resolve() }
    },
  }
}
const pick = (inner: Store): Store => ({
  journal: inner.journal,
  inbox: inner.inbox,
  blobs: inner.blobs,
  trees: inner.trees,
  records: inner.records,
  usages: inner.usages,
  turns: inner.turns,
  vacuum: () => inner.vacuum(),
  close: () => inner.close(),
})
export const has =
  (...types: readonly InteractionEvent['type'][]) =>
  (batch: AppendBatch): boolean =>
    types.every((type) => batch.events.some((event) => event.type === type))

/** A fresh store whose journal holds exactly these events, as a driver that died would have left them. */
export async function storeWith(events: readonly InteractionEvent[], inner: Store = memoryStore()): Promise<Store> {
  const treeId = events[0]?.treeId
  if (!treeId) throw new Error('no events')
  const claim = await inner.journal.claim(treeId, 'dead-owner' as never)
  if (!claim.ok) throw new Error('not claimed')
  const answer = await inner.journal.append({
    treeId,
    expectedSeq: 0,
    epoch: claim.epoch,
    events,
    summary: { agent: 'clerk', title: 't', status: 'running', openRequests: 0 },
  })
  if (!answer.ok) throw new Error(`refused: ${answer.refusal}`)
  await inner.journal.release(treeId, claim.epoch)
  return inner
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-acceptance-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The TroupeError that this throws or rejects with. */
export async function troupeError(action: () => unknown): Promise<TroupeError> {
  try {
    await bounded(Promise.resolve(action()), 'the refusal')
  } catch (error) {
    expect(error, String((error as Error)?.stack)).toBeInstanceOf(TroupeError)
    return error as TroupeError
  }
  return expect.unreachable('nothing was thrown')
}
export const everything = (error: TroupeError): string =>
  [error.message, error.remedy ?? '', ...error.problems.map(({ place, message, remedy }) => `${place}: ${message} → ${remedy ?? ''}`)].join(
    '\n',
  )

export const user = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] })

export interface Ran {
  /** `null` where it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly killed: boolean
}
export const root = path.resolve(import.meta.dirname, '../..')

/** Runs a command to its end, or kills it: the only way to bound what blocks its event loop. */
export function ran(
  command: readonly string[],
  options: { readonly cwd?: string; readonly stdin?: string; readonly env?: NodeJS.ProcessEnv; readonly ms?: number } = {},
): Promise<Ran> {
  const { cwd = root, stdin = '', env = {}, ms = 10_000 } = options
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...command],
      {
        cwd,
        timeout: ms,
        killSignal: 'SIGKILL',
        maxBuffer: 200_000_000,
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          HOME: cwd,
          XDG_STATE_HOME: path.join(cwd, '.state'),
          ...env,
        },
      },
      (error, stdout, stderr) => {
        const killed = child.signalCode === 'SIGKILL'
        resolve({ code: child.exitCode, stdout, stderr: error && killed ? `${stderr}\nkilled after ${ms} ms` : stderr, killed })
      },
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(stdin)
  })
}

/** Runs a module with the public surfaces imported, in a process of its own; what it prints last as JSON is its answer. */
export async function inProcess(body: string, ms = 30_000): Promise<{ readonly answer: unknown; readonly ran: Ran }> {
  const folder = temporaryFolder()
  const file = path.join(folder, 'main.mts')
  const from = (name: string): string => JSON.stringify(pathToFileURL(path.join(root, 'src', name)).href)
  writeFileSync(
    file,
    `import { createAgentRuntime, TroupeError } from ${from('index.ts')}
import { memoryStore } from ${from('stores/memory/index.ts')}
import { sqliteStore } from ${from('stores/sqlite/index.ts')}
import { ScriptedModel } from ${from('testing/index.ts')}
const agent = { name: 'clerk', description: 'd', prompt: 'p', model: 'scripted/model' }
const rounds = async (n = 30) => { for (let i = 0; i < n; i += 1) await new Promise((resolve) => setImmediate(resolve)) }
const done = (answer: unknown) => { process.stdout.write(JSON.stringify(answer) + '\\n', () => process.exit(0)) }
${body}
`,
  )
  const result = await ran([file], { cwd: folder, ms })
  const last = result.stdout.trim().split('\n').at(-1)
  return { answer: last ? JSON.parse(last) : undefined, ran: result }
}

/** An approver from a function that answers a decision with `by` in it, `suspend`, `wait`, or nonsense. */
export function approverOf(decide: (request: ApprovalRequest, signal: AbortSignal) => unknown): Approver {
  const shape = (answer: unknown): unknown => {
    if (typeof answer !== 'object' || answer === null || !('by' in answer)) return answer
    const { by, ...decision } = answer
    return { decision, by }
  }
  return {
    decide: ((request: ApprovalRequest, signal: AbortSignal) => {
      const answer = decide(request, signal)
      return answer instanceof Promise ? answer.then(shape) : shape(answer)
    }) as Approver['decide'],
  }
}
