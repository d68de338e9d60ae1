/* The tools that act, in a folder of their own, for the acceptance suite. Uses public surfaces only. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'
import type {
  ApprovalDecision,
  ApprovalRequest,
  Approver,
  CallIntent,
  CallRecord,
  ClientId,
  Clock,
  InteractionEvent,
  TreeId,
} from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { FakeClock } from '../../src/testing/index.ts'
import { type WorkspaceKit, type WorkspaceOptions, workspaceTools } from '../../src/tools.ts'
import { bounded, ofType, resultsIn, root, type Setup, type World, world } from './support.ts'

/** Commands take real time, and so does whoever waits for them. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

export interface Files {
  readonly [path: string]: string | Uint8Array
}
export function lay(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: String(content).startsWith('#!') ? 0o755 : 0o644 })
  }
}

/* Tests of one file may run side by side, so what they leave is cleared away behind the last of them. */
const started: ChildProcess[] = []
const bases: string[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  for (const base of bases) rmSync(base, { recursive: true, force: true })
})

/** A project with a home beside it, both empty but for these files. */
export function ground(files: Files = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-acting-')))
  bases.push(base)
  const [workspace, home] = [join(base, 'project'), join(base, 'home')]
  lay(workspace, { '.git/HEAD': 'ref: refs/heads/main\n', ...files })
  mkdirSync(home)
  const at = (...names: readonly string[]): string => join(workspace, ...names)
  return { base, workspace, home, at, read: (name: string): string => readFileSync(at(name), 'utf8') }
}
export type Ground = ReturnType<typeof ground>

export type Decide = (request: ApprovalRequest, n: number) => ApprovalDecision | 'suspend' | 'wait'
export const yes = (breadth: 'once' | 'session' | 'project' = 'once', key?: string) =>
  ({ kind: 'approve', breadth, ...(key !== undefined && { key }) }) satisfies ApprovalDecision
export const no = (feedback: string) => ({ kind: 'deny', feedback }) satisfies ApprovalDecision

export interface Actor extends World, Ground {
  readonly kit: WorkspaceKit
  /** What somebody was asked, in order. */
  readonly asked: ApprovalRequest[]
}
export interface ActorSetup extends Setup {
  readonly files?: Files
  /** Goes on in the folder of another. */
  readonly ground?: Ground
  readonly kit?: Partial<WorkspaceOptions>
  /** Ann, who is asked. Absent: nobody is there. */
  readonly decide?: Decide
}

/** A runtime whose agents have every built-in tool, in a folder of their own. */
export function actor({ files, ground: given, kit: options, decide, tools = [], ...setup }: ActorSetup = {}): Actor {
  const place = given ?? ground(files)
  const kit = workspaceTools({ workspace: place.workspace, home: place.home, path: process.env.PATH ?? '', clock: realClock, ...options })
  const asked: ApprovalRequest[] = []
  const approver: Approver | undefined = decide && {
    decide: (request) => {
      const answer = decide(request, asked.push(structuredClone(request)))
      return typeof answer === 'string' ? answer : { decision: answer, by: 'ann' }
    },
  }
  const made = world({
    tools: [...kit.tools, ...tools],
    sandbox: kit.sandbox,
    clock: realClock as FakeClock,
    ...(approver && { approver }),
    ...setup,
  })
  return { ...place, ...made, kit, asked }
}

/** What the model was told about each of its calls, in order. */
export const told = ({ model }: Pick<World, 'model'>) => model.requests.slice(1).flatMap((request) => resultsIn(request))

export const callsIn = (events: readonly InteractionEvent[]): readonly CallIntent[] =>
  events.flatMap((event) => (event.type === 'interaction.item.started' && event.item.kind === 'call' ? [event.item] : []))
export const recordsIn = (events: readonly InteractionEvent[]): readonly CallRecord[] =>
  events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : []))

let marks = 0
/** A number of seconds that no other command sleeps for, by which its processes are found. */
export function mark(): string {
  marks += 1
  return `${30_000 + process.pid}.${marks}`
}
/** Processes that have this among their arguments. */
export const alive = (word: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word)
    } catch {
      return false
    }
  })

export interface Command {
  readonly pid: number
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  signal(name: NodeJS.Signals): void
}
const built = JSON.stringify(pathToFileURL(join(root, 'dist/cli/main.js')).href)
const program = `import { main } from ${built}\nprocess.exit(await main(process.argv.slice(1)))`

/** `troupe …` as it was built, in this folder, without a terminal. */
export function troupe({ workspace, base, home }: Ground, args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, '--', ...args], {
    cwd: workspace,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      XDG_STATE_HOME: join(base, 'state'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  )
  started.push(child)
  return { pid: child.pid ?? 0, ended: bounded(ended, `troupe ${args.join(' ')}`, 50_000), signal: (name) => void child.kill(name) }
}

/** An agent file and its script, as JSON, which is YAML. */
export const agentFiles = (name: string, settings: string, steps: readonly object[]): Files => ({
  [`${name}.ai`]: `---\ndescription: Does things\nmodels: script/${name}.yaml\n${settings}\n---\nYou are a clerk.\n`,
  [`${name}.yaml`]: JSON.stringify({ steps }),
})
/** Where the journal of `troupe` is. */
export const journalFolder = ({ base }: Ground): string => join(base, 'state', 'troupe')

/** Answers everything that the newest run of a journal waits for, as another program would. */
export async function answer(path: string, decision: ApprovalDecision, by = 'bob'): Promise<TreeId> {
  const store = sqliteStore({ path })
  const [entry] = await store.trees.list({ limit: 1 })
  const treeId = entry?.treeId as TreeId
  const events = await store.journal.read(treeId, 0)
  const answered = new Set(ofType(events, 'interaction.approval.resolved').map(({ approvalId }) => approvalId))
  for (const { request } of ofType(events, 'interaction.approval.requested').filter(({ request }) => !answered.has(request.id)))
    await store.inbox.add(treeId, `${by} ${request.id}` as ClientId, { kind: 'approval', approvalId: request.id, decision, by })
  await store.close()
  return treeId
}
