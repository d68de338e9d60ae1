import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { type AgentOverrides, variablePlaces } from '../../agents/index.ts'
import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { type AgentLoopConfig, type OpenOptions, systemClock } from '../../runtime/index.ts'
import { dataFolder, dataFolderProblem } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { withRehearsal } from '../models/rehearsal-remedy.ts'
import type { RunInvocation } from '../options/parse-arguments.ts'
import { loadTeam, lookAtTeam, type SeenTeam, type Team } from '../team/load-team.ts'
import { withWithheld } from '../team/start-diagnostics.ts'
import { uncompiledSchemas } from '../team/uncompiled-schemas.ts'
import { createWorkspaceTools, type WorkspaceTools } from '../team/workspace-tools.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { printNotice, printWarning } from '../terminal/print-messages.ts'
import { checkPrompt } from './prompt-problem.ts'
import { isTyped, promptProblem, readPrompt } from './read-prompt.ts'
import { type ResumedRun, resumedRun } from './resumed-run.ts'
import { asKept, changesInWords, changesSaid, saidAnew, unchangeable, withModelsOf } from './stored-settings.ts'

/** Everything that a run needs, found to be right. */
export interface PreparedRun extends Pick<WorkspaceTools, 'sandbox' | 'hooks' | 'whenNobodyIsThere' | 'project'> {
  /** The agent of the file. */
  readonly agent: Team['root']['definition']
  /** With everybody whom it may call; their models are those that can be asked. */
  readonly agents: WorkspaceTools['agents']
  readonly adapter: ModelAdapter
  readonly shared: Team['shared'] & WorkspaceTools['shared']
  readonly prompt: string
  /** The folder that its tools work in. */
  readonly workspace: string
  /** Where the journal goes. */
  readonly folder: string
  /** What a person should know about the choice of models. */
  readonly notices: readonly string[]
  /** What does not count of what was read, or not as it was meant. */
  readonly diagnostics: Team['diagnostics']
  /** What a person must know about the prompt, and about the terms of a run that is taken up. */
  readonly warnings: readonly string[]
  /** The command line, with what holds of the one that its run was started with. */
  readonly invocation: RunInvocation
  /** What is different in a run that is taken up. */
  readonly changes: OpenOptions
  /** The same for people, to be told once it is so. */
  readonly changed: readonly string[]
}

/** As the runtime takes it. */
export const teamConfig = ({ agents, agent, shared }: PreparedRun): AgentLoopConfig => ({
  agents,
  agentSelection: { agent: agent.name },
  ...shared,
})

/** Reads and checks everything before anything is started; throws all that is wrong. */
export async function prepareRun(given: RunInvocation, host: Host): Promise<PreparedRun> {
  const taken = await resumedRun(given, host)
  const { invocation, notices, warnings } = taken
  const { prompt: argument, display, file } = invocation
  const sources = { argument, stdin: host.stdin, clock: systemClock }
  const { seen, said } = await lookAt(taken, host)
  try {
    const team = await prepareTeam(seen, invocation, host)
    const changes = changesSaid(team.agent, said)
    const changed = taken.kept ? changesInWords(changes, taken.kept) : []
    const prepared = { ...team, invocation, changes, changed, notices: [...notices, ...team.notices] }
    // A run that is taken up has been asked already.
    if (invocation.resume !== undefined && argument === undefined) return { ...prepared, prompt: '', warnings }
    if (isTyped(sources)) await printNotice('Type the prompt, then end it with Ctrl-D.', { host, display })
    const onWaiting = (): void => void printWarning(waiting, { host, display })
    const read = await readPrompt({ ...sources, ...(!isTyped(sources) && { onWaiting }) })
    // Later turns of a session are a person's answers, whatever it began with.
    const fault = invocation.resume === undefined ? await checkPrompt(read.prompt, { file, input: prepared.agent.input }) : undefined
    if (fault) throw fault
    return { ...prepared, ...read, warnings: [...warnings, ...read.warnings] }
  } catch (error) {
    if (!(error instanceof TroupeError) || isAboutPrompt(error)) throw error
    const other = invocation.resume === undefined ? await promptProblem(sources) : undefined
    throw withWithheld(withRehearsal(joinErrors(other ? [error, other] : [error]), startOf(seen)), seen.diagnostics)
  }
}

function startOf({ file, registry, setup }: SeenTeam): Parameters<typeof withRehearsal>[1] {
  const agents = registry.ok ? registry.agents : []
  const isTeam = agents.some(({ isChild, values }) => isChild && values.get('models')?.precedence === 'file')
  return { file, isTeam, places: variablePlaces(setup.config) }
}

const waiting = 'Waiting for standard input; end it with Ctrl-D, or redirect from /dev/null.'

interface Look {
  readonly seen: SeenTeam
  /** What is said anew about a run that is taken up. */
  readonly said: AgentOverrides
}

/** What is to run. Of a run that is taken up, its journal goes before the file, and what is said now before its journal. */
async function lookAt({ invocation, kept }: ResumedRun, host: Host): Promise<Look> {
  const { file, overrides, configFile, isTrusted, dryRun } = invocation
  const trusts = dryRun ? 'for this look' : 'for good'
  const display = { host, ...(configFile !== undefined && { configFile }), isTrusted, trusts } as const
  if (!kept) return { seen: await lookAtTeam(file, { ...display, overrides }), said: new Map() }
  const said = saidAnew(overrides, host.env, kept)
  const seen = await lookAtTeam(file, { ...display, overrides: withModelsOf(kept, said, overrides) })
  const { registry } = seen
  // The run of another agent is refused where it is taken up.
  if (registry.ok && registry.roots[0] !== kept.agent.name) return { seen, said: new Map() }
  const refused = unchangeable(said, kept)
  const wrong = refused ? [refused, ...seen.wrong] : seen.wrong
  if (!registry.ok) return { seen: { ...seen, wrong }, said }
  const agents = registry.agents.map((agent) => (agent.definition.name === registry.roots[0] ? asKept(agent, kept, said) : agent))
  return { seen: { ...seen, wrong, registry: { ...registry, agents } }, said }
}

async function prepareTeam(
  seen: SeenTeam,
  invocation: RunInvocation,
  host: Host,
): Promise<Omit<PreparedRun, 'prompt' | 'warnings' | 'invocation' | 'changes' | 'changed'>> {
  const { dataDir, dryRun } = invocation
  const team = await loadTeam(seen, { looksAtServers: dryRun })
  const { agents, root, adapter, setup, storePath } = team
  const folder = dataFolder({ flag: dataDir ?? storePath, env: host.env, home: homedir() })
  await refuseUnusable(agents, folder)
  const { config, workingDirectory } = setup
  const keys = config.layers.flatMap(({ variables }) => variables.map(({ file: { path } }) => path)).filter((path) => existsSync(path))
  const hidden = [folder, dataFolder({ flag: undefined, env: host.env, home: homedir() }), ...keys]
  const { shared, notices, ...acting } = await createWorkspaceTools(agents, {
    ...invocation,
    host,
    config,
    workingDirectory,
    hidden,
    // What counts for this look only stands in no list.
    ...(dryRun && { trusted: setup.trusted }),
  })
  return {
    ...acting,
    agent: root.definition,
    adapter,
    shared: { ...team.shared, ...shared },
    workspace: workingDirectory,
    folder,
    notices: [...team.notices, ...notices],
    diagnostics: team.diagnostics.filter(({ severity }) => severity !== 'info'),
  }
}

/** What keeps a team from being started, as far as that can be known without starting hooks. Throws everything. */
export async function checkStart(seen: SeenTeam, host: Host): Promise<void> {
  const { agents, storePath } = await loadTeam(seen)
  await refuseUnusable(agents, dataFolder({ flag: storePath, env: host.env, home: homedir() }))
}

async function refuseUnusable(agents: Team['agents'], folder: string): Promise<void> {
  const wrong = [...(await uncompiledSchemas(agents.map(({ definition, place }) => ({ agent: definition, place }))))]
  const unwritable = dataFolderProblem(folder)
  if (unwritable) wrong.push(new TroupeError('config_invalid', 'The folder of journals cannot be used.', { problems: [unwritable] }))
  if (wrong.length > 0) throw joinErrors(wrong)
}

const isAboutPrompt = ({ problems }: TroupeError): boolean => problems.some(({ place }) => place === 'PROMPT' || place === 'standard input')
