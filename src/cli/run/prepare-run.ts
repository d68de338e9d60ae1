import { homedir } from 'node:os'
import { TroupeError } from '../../contracts/index.ts'
import { type AgentOverrides, variablePlaces } from '../../project/index.ts'
import { type AgentLoopConfig, type OpenOptions, systemClock } from '../../runtime/index.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { readServerPrompt } from '../mcp/server-prompt.ts'
import { withRehearsal } from '../models/rehearsal-remedy.ts'
import type { RunInvocation } from '../options/parse-arguments.ts'
import { type InspectedTeam, inspectTeam, loadTeam, type Team } from '../team/load-team.ts'
import { checkSchemasAndFolder, type PreparedAgents, prepareAgents } from '../team/prepare-agents.ts'
import { withIgnoredSettings } from '../team/start-diagnostics.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { printNotice, printWarning } from '../terminal/print-messages.ts'
import { checkPrompt, isTyped, promptProblem, readPrompt } from './read-prompt.ts'
import { type ResumedRun, resumedRun } from './resumed-run.ts'
import { changedSettings, changeNotices, openOptionsOf, unchangeableError, withModelsOf, withStoredSettings } from './stored-settings.ts'

/** Everything that a run needs, checked. */
export interface PreparedRun extends PreparedAgents {
  /** The agent of the file. */
  readonly agent: Team['root']['definition']
  readonly prompt: string
  /** About the prompt and the configuration of a resumed session. */
  readonly warnings: readonly string[]
  /** The command line, with the flags of the session that still apply. */
  readonly invocation: RunInvocation
  /** Changed settings of a resumed session. */
  readonly changes: OpenOptions
  /** Notices about them, to be printed once they apply. */
  readonly changed: readonly string[]
}

export const teamConfig = ({ agents, agent, shared }: PreparedRun): AgentLoopConfig => ({
  agents,
  agentSelection: { agent: agent.name },
  ...shared,
})

/** Reads and checks everything before anything is started. Throws all errors together. */
export async function prepareRun(given: RunInvocation, host: Host): Promise<PreparedRun> {
  const resumed = await resumedRun(given, host)
  const { invocation, notices, warnings } = resumed
  const { prompt: argument, display, file } = invocation
  const sources = { argument, stdin: host.stdin, clock: systemClock }
  const { inspected, overridden } = await inspect(resumed, host)
  try {
    const team = await prepareTeam(inspected, invocation, host)
    const changes = openOptionsOf(team.agent, overridden)
    const changed = resumed.stored ? changeNotices(changes, resumed.stored) : []
    const prepared = { ...team, invocation, changes, changed, notices: [...notices, ...team.notices] }
    // A resumed turn already has its prompt.
    if (invocation.resume !== undefined && argument === undefined) return { ...prepared, prompt: '', warnings }
    if (isTyped(sources)) await printNotice('Type the prompt, then end it with Ctrl-D.', { host, display })
    const onWaiting = (): void => void printWarning(waiting, { host, display })
    const before = invocation.serverPrompt && (await readServerPrompt(invocation.serverPrompt, inspected, host))
    const read = await readPrompt({ ...sources, before, ...(!isTyped(sources) && { onWaiting }) })
    // The input schema applies to the first turn only.
    const problem = invocation.resume === undefined ? await checkPrompt(read.prompt, { file, input: prepared.agent.input }) : undefined
    if (problem) throw problem
    return { ...prepared, ...read, warnings: [...warnings, ...read.warnings] }
  } catch (error) {
    if (!(error instanceof TroupeError) || isAboutPrompt(error)) throw error
    const other = invocation.resume === undefined && !invocation.serverPrompt ? await promptProblem(sources) : undefined
    throw withIgnoredSettings(withRehearsal(joinErrors(other ? [error, other] : [error]), rehearsalStart(inspected)), inspected.diagnostics)
  }
}

function rehearsalStart({ file, registry, setup }: InspectedTeam): Parameters<typeof withRehearsal>[1] {
  const agents = registry.ok ? registry.agents : []
  const isTeam = agents.some(({ isChild, values }) => isChild && values.get('models')?.precedence === 'file')
  return { file, isTeam, places: variablePlaces(setup.config) }
}

const waiting = 'Waiting for standard input; end it with Ctrl-D, or redirect from /dev/null.'

interface Inspection {
  readonly inspected: InspectedTeam
  /** Settings that the command line and variables change in a resumed session. */
  readonly overridden: AgentOverrides
}

/** Reads the team. For a resumed session, precedence is: this command line, the journal, the agent file. */
async function inspect({ invocation, stored }: ResumedRun, host: Host): Promise<Inspection> {
  const { file, overrides, configFile, isTrusted, dryRun } = invocation
  const options = { host, configFile, isTrusted, storesTrust: !dryRun }
  if (!stored) return { inspected: await inspectTeam(file, { ...options, overrides }), overridden: new Map() }
  const overridden = changedSettings(overrides, host.env, stored)
  const inspected = await inspectTeam(file, { ...options, overrides: withModelsOf(stored, overridden, overrides) })
  const { registry } = inspected
  // `startRun` refuses a session of another agent.
  if (registry.ok && registry.roots[0] !== stored.agent.name) return { inspected, overridden: new Map() }
  const refused = unchangeableError(overridden, stored)
  const errors = refused ? [refused, ...inspected.errors] : inspected.errors
  if (!registry.ok) return { inspected: { ...inspected, errors }, overridden }
  const agents = registry.agents.map((agent) =>
    agent.definition.name === registry.roots[0] ? withStoredSettings(agent, stored, overridden) : agent,
  )
  return { inspected: { ...inspected, errors, registry: { ...registry, agents } }, overridden }
}

async function prepareTeam(
  inspected: InspectedTeam,
  invocation: RunInvocation,
  host: Host,
): Promise<Omit<PreparedRun, 'prompt' | 'warnings' | 'invocation' | 'changes' | 'changed'>> {
  const team = await loadTeam(inspected, { looksAtServers: invocation.dryRun })
  return { ...(await prepareAgents(team, invocation, host)), agent: team.root.definition }
}

/** Throws all problems that would prevent the start of a team. Starts no hooks. */
export async function checkStart(inspected: InspectedTeam, host: Host): Promise<void> {
  const { agents, storePath } = await loadTeam(inspected)
  await checkSchemasAndFolder(agents, dataFolder({ flag: storePath, env: host.env, home: homedir() }))
}

const isAboutPrompt = ({ problems }: TroupeError): boolean => problems.some(({ place }) => place === 'PROMPT' || place === 'standard input')
