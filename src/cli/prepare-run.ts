import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import type { AgentFile } from '../agents/index.ts'
import { type ModelAdapter, TroupeError } from '../contracts/index.ts'
import { systemClock } from '../runtime/index.ts'
import { schemaProblem } from './check-compiles.ts'
import { dataFolder } from './data-folder.ts'
import { findModels } from './find-models.ts'
import type { Host } from './host.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { readAgent } from './read-agent.ts'
import { readPrompt } from './read-prompt.ts'
import { tellNotice } from './tell.ts'
import { together } from './together.ts'

/** Everything that a run needs, found to be right. */
export interface PreparedRun {
  /** Its models are those that can be asked. */
  readonly agent: AgentFile
  readonly adapter: ModelAdapter
  readonly prompt: string
  /** Where the journal goes. */
  readonly folder: string
  /** What a person should know about the choice of models. */
  readonly notices: readonly string[]
}

/** Where the agent is wrong, nobody should have to wait for a pipe to hear of it. */
const shortPatienceMs = 100

/** Reads and checks everything before anything is started; throws all that is wrong. */
export async function prepareRun(invocation: RunInvocation, host: Host): Promise<PreparedRun> {
  const { prompt: argument, wishes } = invocation
  const { stdin } = host
  const notice = (text: string): void => void tellNotice(text, { host, wishes })
  const folder = dataFolder({ flag: invocation.dataDir, env: host.env, home: homedir() })
  try {
    const prepared = await prepareAgent(invocation, host)
    return { ...prepared, folder, prompt: await readPrompt({ argument, stdin, notice }) }
  } catch (error) {
    if (!(error instanceof TroupeError) || isAboutPrompt(error) || argument === '-') throw error
    const more = await readPrompt({ argument, stdin, notice: () => {}, patienceMs: shortPatienceMs }).then(
      () => [],
      (other: unknown) => (other instanceof TroupeError ? [other] : []),
    )
    throw together([error, ...more])
  }
}

async function prepareAgent({ file, models, overrides }: RunInvocation, { env }: Host): Promise<Omit<PreparedRun, 'prompt' | 'folder'>> {
  const agent = await readAgent(file, { settings: overrides, models })
  const wrong = agent.output.format === 'json' && agent.output.schema ? await schemaProblem(agent.output.schema) : undefined
  const errors = wrong === undefined ? [] : [unusable(file, wrong)]
  try {
    const found = await findModels(agent.models, {
      clock: systemClock,
      variables: env,
      readFile: (path) => readFile(path, 'utf8'),
      baseDir: dirname(file),
    })
    if (errors.length === 0) return { agent: { ...agent, models: found.models }, adapter: found.adapter, notices: found.notices }
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    errors.push(error)
  }
  throw together(errors)
}

function unusable(file: string, cause: string): TroupeError {
  return new TroupeError('agent_file_invalid', `the output schema of ${file} cannot be used`, {
    problems: [{ place: `${file} output.schema`, message: cause, remedy: 'JSON Schema 2020-12 is meant.' }],
  })
}

const isAboutPrompt = ({ problems }: TroupeError): boolean => problems.some(({ place }) => place === 'PROMPT' || place === 'standard input')
