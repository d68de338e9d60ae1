import { type ModelAdapter, TroupeError } from '../contracts/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../models/index.ts'
import { together } from './together.ts'

export interface FoundModels {
  readonly adapter: ModelAdapter
  /** Those that can be asked, in order. */
  readonly models: readonly string[]
  /** What a person should know about the choice. */
  readonly notices: readonly string[]
}

/**
 * Finds the models that an agent names. One whose key is missing is left out while another can be asked; anything
 * else that is wrong is thrown, all at once.
 */
export async function findModels(names: readonly string[], options: ModelAdapterOptions): Promise<FoundModels> {
  const adapter = modelAdapter(options)
  const models: string[] = []
  const notices: string[] = []
  const errors: TroupeError[] = []
  const missing: TroupeError[] = []
  for (const name of names) {
    try {
      const { id } = await adapter.resolve(name)
      models.push(name)
      if (name === 'auto') notices.push(`auto is ${id}.`)
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      const isMissing = error.code === 'model_key_missing'
      ;(isMissing ? missing : errors).push(error)
      if (isMissing) notices.push(`${name} is left out: ${error.message}`)
    }
  }
  if (errors.length > 0 || models.length === 0) throw together([...errors, ...missing])
  return { adapter, models, notices }
}
