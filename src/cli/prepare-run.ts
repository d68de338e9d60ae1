import { homedir } from 'node:os'
import { type ModelAdapter, type Problem, TroupeError } from '../contracts/index.ts'
import type { AgentLoopConfig } from '../runtime/index.ts'
import { schemaProblem } from '../tools/index.ts'
import { dataFolder } from './data-folder.ts'
import type { Host } from './host.ts'
import { joinErrors } from './join-errors.ts'
import { loadTeam, type Team } from './load-team.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { isTyped, readPrompt } from './read-prompt.ts'
import { tellNotice } from './tell.ts'

/** Everything that a run needs, found to be right. */
export interface PreparedRun {
  /** The agent of the file. */
  readonly agent: Team['root']['definition']
  /** With everybody whom it may call; their models are those that can be asked. */
  readonly agents: Team['agents']
  readonly adapter: ModelAdapter
  readonly prompt: string
  /** Where the journal goes. */
  readonly folder: string
  /** What a person should know about the choice of models, and about the prompt. */
  readonly notices: readonly string[]
}

/** As the runtime takes it. */
export const teamConfig = ({ agents, agent }: PreparedRun): AgentLoopConfig => ({ agents, agentSelection: { agent: agent.name } })

/** Where the agent is wrong, nobody should have to wait for a pipe to hear of it. */
const shortPatienceMs = 100

/** Reads and checks everything before anything is started; throws all that is wrong. */
export async function prepareRun(invocation: RunInvocation, host: Host): Promise<PreparedRun> {
  const { prompt: argument, wishes } = invocation
  const sources = { argument, stdin: host.stdin }
  try {
    const prepared = await prepareTeam(invocation, host)
    if (isTyped(sources)) await tellNotice('Type the prompt, then end it with Ctrl-D.', { host, wishes })
    const { prompt, notices } = await readPrompt(sources)
    return { ...prepared, prompt, notices: [...prepared.notices, ...notices] }
  } catch (error) {
    if (!(error instanceof TroupeError) || isAboutPrompt(error) || argument === '-') throw error
    const more = await readPrompt({ ...sources, patienceMs: shortPatienceMs }).then(
      () => [],
      (other: unknown) => (other instanceof TroupeError ? [other] : []),
    )
    throw joinErrors([error, ...more])
  }
}

async function prepareTeam(invocation: RunInvocation, host: Host): Promise<Omit<PreparedRun, 'prompt'>> {
  const { file, models, overrides, configFile, isTrusted, dataDir } = invocation
  const team = await loadTeam(file, {
    host,
    overrides: { settings: overrides, models },
    ...(configFile !== undefined && { configFile }),
    isTrusted,
  })
  const { agents, root, adapter, storePath } = team
  const wrong = await unusableSchemas(agents)
  if (wrong.length > 0) throw new TroupeError('agent_file_invalid', 'Some schemas cannot be used.', { problems: wrong })
  return {
    agent: root.definition,
    agents,
    adapter,
    folder: dataFolder({ flag: dataDir ?? storePath, env: host.env, home: homedir() }),
    notices: [...team.notices, ...team.diagnostics.filter(({ severity }) => severity !== 'info').map(noticeOf)],
  }
}

const noticeOf = ({ place, message, remedy }: Team['diagnostics'][number]): string =>
  `${place}: ${[message, remedy].filter(Boolean).join(' ')}`

/** Those that look right and cannot be compiled all the same. */
async function unusableSchemas(agents: Team['agents']): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const { name, input, output } of agents) {
    for (const [key, contract] of Object.entries({ input, output })) {
      const wrong = contract.format === 'json' && contract.schema ? await schemaProblem(contract.schema) : undefined
      if (wrong === undefined) continue
      problems.push({
        place: `${name} ${key}.schema`,
        message: `It is not a JSON Schema: ${wrong}.`,
        remedy: 'JSON Schema 2020-12 is meant.',
      })
    }
  }
  return problems
}

const isAboutPrompt = ({ problems }: TroupeError): boolean => problems.some(({ place }) => place === 'PROMPT' || place === 'standard input')
