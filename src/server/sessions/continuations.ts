import { resolve } from 'node:path'
import type { AgentDescription, ContinuesElsewhere, RunFlag, RunOrigin, SessionEntry, Store, TreeId } from '../../contracts/index.ts'
import { type CommandPlace, flagsToRepeat, flagWords, modelFlags, type Project, realPath, resumeHint } from '../../project/index.ts'

// What this server can do with a stored session.
//
// 1. A session belongs to the folder that it was started in. Those of other folders are read-only here.
// 2. Sessions that a server of this folder started continue here if their agent is served.
// 3. Those of `troupe run` also need the flags that they were started with. Limits and parameters are in their journal.
// 4. A session of this folder that a process drives takes messages, whatever else is true.

interface ContinuationOptions {
  readonly store: Pick<Store, 'journal' | 'trees'>
  /** What the sessions that this server starts record. Without it, it continues none of a process that has ended. */
  readonly origin: RunOrigin | undefined
  /** What commands must name. Without it, no command is known. */
  readonly place: CommandPlace | undefined
  /** Those that are served. */
  agents(): readonly AgentDescription[]
}

interface SessionFacts extends Required<Pick<SessionEntry, 'project' | 'continue'>> {
  /** The process that drives it. Looked up only where it matters. */
  readonly driver?: string | undefined
}

/** What the first event of a session says. It never changes. */
interface Recorded {
  /** Whether the event could be read. */
  readonly isKnown: boolean
  readonly origin: RunOrigin | undefined
  readonly models: readonly string[]
  readonly hasTeam: boolean
}

const unknown: Recorded = { isKnown: false, origin: undefined, models: [], hasTeam: false }
const maxRecorded = 10_000

export class Continuations {
  readonly #options: ContinuationOptions
  readonly #recorded = new Map<string, Recorded>()
  #flags: readonly RunFlag[] = []
  /** Files of the agents, by name. */
  #files: ReadonlyMap<string, string> = new Map()

  constructor(options: ContinuationOptions) {
    this.#options = options
  }

  /** After each load of the project. */
  use({ report, options, workspace }: Pick<Project, 'report' | 'options' | 'workspace'>): void {
    const { registry, asked } = report
    const agents = registry.ok ? registry.agents : []
    this.#files = new Map(agents.map(({ definition, path }) => [definition.name, realPath(path)]))
    const named = (name: string, values: readonly string[] = []): readonly RunFlag[] => values.map((value) => ({ name, value }))
    this.#flags = [
      ...named('config', asked.configFile === undefined ? [] : [resolve(workspace, asked.configFile)]),
      ...named('allow', options.allow),
      ...named('deny', options.deny),
    ]
  }

  async of(entry: Pick<SessionEntry, 'sessionId' | 'agent' | 'status' | 'workspace'>): Promise<SessionFacts> {
    const { store, origin } = this.#options
    const treeId = entry.sessionId as TreeId
    const project = entry.workspace === origin?.workspace ? 'here' : 'elsewhere'
    const recorded = await this.#read(treeId)
    const why = project === 'here' ? this.#whyNot(entry.agent, recorded) : otherFolder(entry.workspace)
    if (why === undefined) return { project, continue: { here: true } }
    const driver = await store.trees.driver(treeId)
    if (driver !== undefined && project === 'here') return { project, continue: { here: true }, driver }
    if (driver !== undefined) return { project, continue: { here: false, reason: `${why} It is running there: ${driver}.` }, driver }
    return { project, continue: { here: false, reason: why, ...(await this.command(entry)) } }
  }

  /** Continues it in a shell; empty for the session of a program. */
  async command({ sessionId, status }: Pick<SessionEntry, 'sessionId' | 'status'>): Promise<Pick<ContinuesElsewhere, 'command'>> {
    const treeId = sessionId as TreeId
    const { place } = this.#options
    const { origin } = await this.#read(treeId)
    if (!place || (origin?.command !== 'serve' && origin?.agentFile === undefined)) return {}
    return { command: resumeHint({ run: { treeId, status }, origin }, place) }
  }

  /** Whether this server, or another one of this folder, started the session. */
  async isServed(treeId: TreeId): Promise<boolean> {
    return this.#isOwn(await this.#read(treeId))
  }

  #isOwn({ isKnown, origin }: Recorded): boolean {
    const { origin: own } = this.#options
    // Programs without an origin cannot be told apart.
    if (!isKnown || !own || !origin) return false
    return origin.command === own.command && origin.workspace === own.workspace && origin.agentFile === own.agentFile
  }

  /** Another server of this folder may serve other agents. */
  serves(agent: string): boolean {
    return this.#find(agent) !== undefined
  }

  #find(agent: string): AgentDescription | undefined {
    return this.#options.agents().find(({ name, displayName }) => name === agent || displayName === agent)
  }

  /** Why a session of this folder cannot continue here. */
  #whyNot(agent: string, recorded: Recorded): string | undefined {
    const { origin, models, hasTeam } = recorded
    const isOwn = this.#isOwn(recorded)
    if (!isOwn && origin?.agentFile === undefined) return startedByProgram
    const served = this.#find(agent)
    if (!served) return `The agent "${agent}" is not served here.`
    if (isOwn || !origin) return undefined
    if (this.#files.get(served.name) !== origin.agentFile) return `The agent "${agent}" is served from another file here.`
    const { flags = [] } = origin
    const isIn = (list: readonly RunFlag[], { name, value }: RunFlag): boolean =>
      list.some((each) => each.name === name && each.value === value)
    const missing = [...flagsToRepeat(flags), ...(hasTeam ? modelFlags(flags) : [])].filter((flag) => !isIn(this.#flags, flag))
    if (missing.length > 0)
      return `This server does not apply the flags that the session was started with: ${flagWords(missing).join(' ')}.`
    // More denials are no harm.
    const added = this.#flags.filter((flag) => flag.name !== 'deny' && !isIn(flags, flag))
    if (added.length > 0) return `This server has flags that the session was started without: ${flagWords(added).join(' ')}.`
    const known = this.#options.agents().flatMap((each) => [each, ...(each.team ?? [])].flatMap((one) => one.models))
    const model = models.find((each) => !known.includes(each))
    return model === undefined ? undefined : `This server does not have its model ${model}.`
  }

  async #read(treeId: TreeId): Promise<Recorded> {
    const known = this.#recorded.get(treeId)
    if (known) return known
    try {
      const [first] = await this.#options.store.journal.read(treeId, 0, 1)
      if (first?.type !== 'interaction.session.created') return unknown
      const { agent, origin } = first
      if (this.#recorded.size >= maxRecorded) this.#recorded.clear()
      const recorded = { isKnown: true, origin, models: agent.models, hasTeam: agent.agents.length > 0 }
      this.#recorded.set(treeId, recorded)
      return recorded
    } catch {
      // A journal that cannot be read is reported when somebody reads the session.
      return unknown
    }
  }
}

const otherFolder = (workspace: string | undefined): string =>
  workspace === undefined ? startedByProgram : `It belongs to another folder: ${workspace}.`

const startedByProgram = 'A program started it, and only that program continues it.'
