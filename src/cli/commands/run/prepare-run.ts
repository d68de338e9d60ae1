import { TroupeError } from '../../../contracts/index.ts'
import {
  type AgentOverrides,
  changedSettings,
  changeNotices,
  openOptionsOf,
  openProject,
  type Project,
  type ProjectReport,
  type RegisteredAgent,
  unchangeableError,
  variablePlaces,
  withIgnoredSettings,
  withModelsOf,
  withStoredSettings,
} from '../../../project/index.ts'
import { type OpenOptions, systemClock } from '../../../runtime/index.ts'
import { joinErrors } from '../../../util/join-errors.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import { printNotice, printWarning } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { readServerPrompt } from '../mcp/server-prompt.ts'
import { loadTrustedProject } from '../trust/load-trusted-project.ts'
import { checkPrompt, isTyped, promptProblem, readPrompt } from './read-prompt.ts'
import { withRehearsal } from './rehearsal-remedy.ts'
import { type ResumedRun, resumedRun } from './resumed-run.ts'

/** Everything that a run needs, checked. */
export interface PreparedRun {
  readonly project: Project
  /** The agent of the file. */
  readonly agent: RegisteredAgent['definition']
  readonly prompt: string
  /** About the project, its models and the resumed session. */
  readonly notices: readonly string[]
  /** About the prompt and the configuration of a resumed session. */
  readonly warnings: readonly string[]
  /** The command line, with the flags of the session that still apply. */
  readonly invocation: RunInvocation
  /** Changed settings of a resumed session. */
  readonly changes: OpenOptions
  /** Notices about them, to be printed once they apply. */
  readonly changed: readonly string[]
}

/** Reads and checks everything before anything is started. Throws all errors together. */
export async function prepareRun(given: RunInvocation, host: Host): Promise<PreparedRun> {
  const resumed = await resumedRun(given, host)
  const { invocation, warnings } = resumed
  const { prompt: argument, display, file } = invocation
  const sources = { argument, stdin: host.stdin, clock: systemClock }
  const inspected = await inspect(resumed, host)
  const { report } = inspected
  try {
    const project = await openInspected(inspected, invocation)
    const [root] = project.agents
    if (!root) throw new TroupeError('internal', `The agent of ${file} is not among those that were read.`)
    const agent = root.definition
    const changes = openOptionsOf(agent, inspected.overridden)
    const changed = resumed.stored ? changeNotices(changes, resumed.stored) : []
    const prepared = { project, agent, invocation, changes, changed, notices: [...resumed.notices, ...project.notices] }
    // A resumed turn already has its prompt.
    if (invocation.resume !== undefined && argument === undefined) return { ...prepared, prompt: '', warnings }
    if (isTyped(sources)) await printNotice('Type the prompt, then end it with Ctrl-D.', { host, display })
    const onWaiting = (): void => void printWarning(waiting, { host, display })
    const before = invocation.serverPrompt && (await readServerPrompt(invocation.serverPrompt, report, host))
    const read = await readPrompt({ ...sources, before, ...(!isTyped(sources) && { onWaiting }) })
    // The input schema applies to the first turn only.
    const problem = invocation.resume === undefined ? await checkPrompt(read.prompt, { file, input: agent.input }) : undefined
    if (problem) throw problem
    return { ...prepared, ...read, warnings: [...warnings, ...read.warnings] }
  } catch (error) {
    if (!(error instanceof TroupeError) || isAboutPrompt(error)) throw error
    const other = invocation.resume === undefined && !invocation.serverPrompt ? await promptProblem(sources) : undefined
    throw withIgnoredSettings(withRehearsal(joinErrors(other ? [error, other] : [error]), rehearsalStart(report, file)), report.diagnostics)
  }
}

function rehearsalStart({ registry, setup }: ProjectReport, file: string): Parameters<typeof withRehearsal>[1] {
  const agents = registry.ok ? registry.agents : []
  const isTeam = agents.some(({ isChild, values }) => isChild && values.get('models')?.precedence === 'file')
  return { file, isTeam, places: variablePlaces(setup.config) }
}

const waiting = 'Waiting for standard input; end it with Ctrl-D, or redirect from /dev/null.'

interface Inspection {
  readonly report: ProjectReport
  /** Settings that the command line and variables change in a resumed session. */
  readonly overridden: AgentOverrides
  /** The agents with the settings of a resumed session. */
  readonly agents?: readonly RegisteredAgent[]
  /** Settings that a resumed session cannot change. */
  readonly errors: readonly TroupeError[]
}

/** Reads the team. For a resumed session, precedence is: this command line, the journal, the agent file. */
async function inspect({ invocation, stored }: ResumedRun, host: Host): Promise<Inspection> {
  const { file, overrides, configFile, isTrusted = false, dryRun } = invocation
  const overridden = stored ? changedSettings(overrides, host.env, stored) : new Map()
  const settings = stored ? withModelsOf(stored, overridden, overrides) : overrides
  const { cwd, env } = host
  // A resumed session continues without tools that no longer exist.
  const onMissingTools = stored ? 'report' : 'refuse'
  const report = await loadTrustedProject(
    { cwd, env, agents: file, configFile, settings, onMissingTools },
    { host, isTrusted, storesTrust: !dryRun },
  )
  const { registry } = report
  // `startRun` refuses a session of another agent.
  if (!stored || (registry.ok && registry.roots[0] !== stored.agent.name)) return { report, overridden: new Map(), errors: [] }
  const refused = unchangeableError(overridden, stored)
  const errors = refused ? [refused] : []
  if (!registry.ok) return { report, overridden, errors }
  const agents = registry.agents.map((agent) =>
    agent.definition.name === registry.roots[0] ? withStoredSettings(agent, stored, overridden) : agent,
  )
  return { report, overridden, agents, errors }
}

const openInspected = ({ report, agents, errors }: Inspection, { dataDir, allow, deny, dryRun }: RunInvocation): Promise<Project> =>
  openProject(report, { dataDir, allow, deny, dryRun, errors, ...(agents && { agents }) })

const isAboutPrompt = ({ problems }: TroupeError): boolean => problems.some(({ place }) => place === 'PROMPT' || place === 'standard input')
