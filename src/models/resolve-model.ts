import { isAbsolute, join } from 'node:path'
import { type Clock, type Model, type ModelAdapter, TroupeError } from '../contracts/index.ts'
import { scriptModel } from './script-model.ts'

export interface BuiltInModelsOptions {
  /** Rejects where there is no such file. */
  readFile(path: string): Promise<string>
  /** What `script/<path>` is relative to: the folder of the agent file. */
  readonly baseDir: string
  readonly clock: Clock
}

const scriptPrefix = 'script/'

/** The models that need no provider: `script/<path>`. Any other name throws `model_unknown`. */
export function builtInModels(options: BuiltInModelsOptions): ModelAdapter {
  const models = new Map<string, Promise<Model>>()

  async function load(name: string): Promise<Model> {
    const file = name.slice(scriptPrefix.length)
    if (!name.startsWith(scriptPrefix) || file === '') throw unknown(name)
    const path = isAbsolute(file) ? file : join(options.baseDir, file)
    const text = await options.readFile(path).catch((cause: unknown) => {
      throw new TroupeError('model_unknown', `the model ${name} needs the script ${path}, which cannot be read`, {
        remedy: `Create it, or give the path relative to ${options.baseDir}.`,
        cause,
      })
    })
    return scriptModel(text, path, { id: name, clock: options.clock })
  }

  return {
    resolve(name) {
      const known = models.get(name)
      if (known) return known
      const loading = load(name)
      models.set(name, loading)
      // A script that was wrong may be mended before somebody asks again.
      loading.catch(() => models.delete(name))
      return loading
    },
  }
}

function unknown(name: string): TroupeError {
  return new TroupeError('model_unknown', `there is no model ${name === '' ? 'without a name' : `\`${name}\``}`, {
    remedy: 'There is `script/<file>`, which plays steps written in YAML (no LLM), e.g. `models: script/hello.script.yaml`.',
  })
}
