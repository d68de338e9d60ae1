import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../../models/by-name/index.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { serverProblem } from './local-servers.ts'

export interface FoundModels {
  readonly adapter: ModelAdapter
  /** Those that can be asked, in order. */
  readonly models: readonly string[]
  /** What a person should know about the choice. */
  readonly notices: readonly string[]
  /** What is wrong with servers on this machine, where they were looked at. */
  readonly servers: readonly TroupeError[]
}

export interface ModelSearch extends ModelAdapterOptions {
  /** Whether servers on this machine that a model needs are asked if they are there. */
  readonly looksAtServers?: boolean
}

/**
 * Finds the models that an agent names. One whose key is missing, and an `auto` that finds none, is left out while
 * another can be asked; anything else that is wrong is thrown, all at once.
 */
export async function findModels(names: readonly string[], { looksAtServers = false, ...options }: ModelSearch): Promise<FoundModels> {
  const adapter = modelAdapter(options)
  const models: string[] = []
  const notices: string[] = []
  const errors: TroupeError[] = []
  const missing: TroupeError[] = []
  const servers: TroupeError[] = []
  for (const name of names) {
    try {
      const { id } = await adapter.resolve(name)
      models.push(name)
      if (name === 'auto') notices.push(`auto is ${id}.`)
      // What `auto` has found has just answered.
      const absent = looksAtServers && name !== 'auto' ? await serverProblem(name, options) : undefined
      if (absent) servers.push(absent)
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      const isMissing = isSpared(error)
      ;(isMissing ? missing : errors).push(withCommand(error))
      if (isMissing) notices.push(`${name} is left out: ${error.message}`)
    }
  }
  if (errors.length > 0 || models.length === 0) throw joinErrors([...errors, ...missing])
  return { adapter, models, notices: [...notices, ...servers.map(({ message }) => message)], servers }
}

const isSpared = ({ code }: TroupeError): boolean => code === 'model_key_missing' || code === 'model_unavailable'

/** The remedy of the models, and how that is done on a command line. */
function withCommand(error: TroupeError): TroupeError {
  const { code, message, remedy = '', problems } = error
  if (!isSpared(error)) return error
  const variable = /\b[A-Z][A-Z0-9_]*_API_KEY\b/.exec(remedy)?.[0]
  const commands = [...(variable === undefined ? [] : [`export ${variable}=…`]), '--model rehearsal']
  return new TroupeError(code, message, {
    remedy: `${remedy} On the command line: ${commands.join(', or ')}`,
    problems,
    cause: error.cause,
  })
}
