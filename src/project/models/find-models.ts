import { dirname } from 'node:path'
import { type Model, type ModelAdapter, noUsage, TroupeError } from '../../contracts/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../../models/by-name/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import { serverProblem } from './local-servers.ts'

export interface FoundModels {
  readonly adapter: ModelAdapter
  /** The available ones, in order. */
  readonly models: readonly string[]
  /** About models that were selected or skipped. */
  readonly notices: readonly string[]
  /** Problems of servers on this machine, if they were contacted. */
  readonly servers: readonly TroupeError[]
  /** No model is available: `models` are those that were asked for. */
  readonly isMissing: boolean
}

export interface ModelSearch extends ModelAdapterOptions {
  /** Whether to contact servers on this machine that a model needs. */
  readonly looksAtServers?: boolean
  /** Whether a key or a server may come later: models are resolved when a turn needs them. */
  readonly allowsMissing?: boolean
}

/**
 * Resolves the models of an agent. One without a key, and an `auto` that finds none, is skipped if another is
 * available. Throws all other errors together.
 */
export async function findModels(
  names: readonly string[],
  { looksAtServers = false, allowsMissing = false, ...options }: ModelSearch,
): Promise<FoundModels> {
  const adapter = modelAdapter(options)
  const models: string[] = []
  const notices: string[] = []
  const errors: TroupeError[] = []
  const missing: TroupeError[] = []
  const servers: TroupeError[] = []
  for (const name of names) {
    try {
      const model = await adapter.resolve(name)
      const { id } = model
      models.push(name)
      if (hasRecordedPrice(model)) notices.push('Scripts replay recorded replies. Their prices are recorded, too: nothing is charged.')
      if (name === 'auto') notices.push(`auto uses ${id}.`)
      // The server that `auto` found has just responded.
      const absent = looksAtServers && name !== 'auto' ? await serverProblem(name, options) : undefined
      if (absent) servers.push(absent)
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      const isMissing = isSpared(error)
      ;(isMissing ? missing : errors).push(withCommand(error))
      if (isMissing) notices.push(`${name} is skipped: ${error.message}`)
    }
  }
  const isMissing = models.length === 0
  if (errors.length > 0 || (isMissing && !allowsMissing)) throw joinErrors([...errors, ...missing])
  return {
    adapter,
    models: isMissing ? names : models,
    isMissing,
    notices: [...new Set(notices), ...servers.map(({ message }) => message)],
    servers,
  }
}

const hasRecordedPrice = ({ id, costOf }: Model): boolean =>
  id.startsWith('script/') && (costOf?.({ ...noUsage, input: 1_000_000, output: 1_000_000 }) ?? 0) > 0

const isSpared = ({ code }: TroupeError): boolean => code === 'model_key_missing' || code === 'model_unavailable'

/** The remedy as a command. */
function withCommand(error: TroupeError): TroupeError {
  const { code, message, problems, cause } = error
  const variable = isSpared(error) ? /\b[A-Z][A-Z0-9_]*_API_KEY\b/.exec(error.remedy ?? '')?.[0] : undefined
  if (variable === undefined) return error
  const set = `export ${variable}=…`
  const remedy = code === 'model_key_missing' ? `Set the key: ${set}.` : `Set a key, such as ${set}, or start a server such as Ollama.`
  return new TroupeError(code, message, { remedy, problems, cause })
}

/** Options for resolving the models of an agent file. */
export function modelOptions(agentFile: string, { env }: Pick<ProjectPlace, 'env'>): Parameters<typeof findModels>[1] {
  return { clock: systemClock, variables: env, baseDir: dirname(agentFile) }
}
