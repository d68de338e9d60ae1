import { type Model, type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { checkOptions, type ModelAdapterOptions, platform, type SettledOptions } from './adapter-options.ts'
import { secretsAmong } from './endpoint.ts'
import { loadModel } from './model-sources.ts'

/**
 * Resolves models by name: `openai/gpt-5.4-mini`, `ollama/qwen3`, a bare `claude-sonnet-5`, an alias, `auto`, `rehearsal`,
 * `script/<path>`. A provider's code is loaded with its first model. Throws `config_invalid` for invalid options.
 */
export function modelAdapter(given: ModelAdapterOptions): ModelAdapter {
  checkOptions(given)
  const { clock = platform.clock, fetch = platform.fetch, readFile = platform.readFile, baseDir = platform.baseDir } = given
  const options: SettledOptions = { ...given, clock, fetch, readFile, baseDir }
  const models = new Map<string, Promise<Model>>()
  return {
    secrets: secretsAmong(options),
    resolve(name) {
      const known = models.get(name)
      if (known) return known
      const loading = loadModel(aliased(name, options.aliases ?? {}), options)
      models.set(name, loading)
      // The problem may be fixed before the next request.
      loading.catch(() => models.delete(name))
      return loading
    },
  }
}

/** Follows aliases; throws for one that refers to itself. */
function aliased(name: string, aliases: { readonly [alias: string]: string }): string {
  const seen: string[] = []
  for (let at = name; ; at = aliases[at] as string) {
    if (!Object.hasOwn(aliases, at)) return at
    if (seen.includes(at))
      throw new TroupeError('config_invalid', `The alias ${name} refers to itself: ${[...seen, at].join(' → ')}.`, {
        remedy: 'Make one of them name a model.',
      })
    seen.push(at)
  }
}
