import { isAbsolute, join } from 'node:path'
import { type Clock, type Model, type ModelAdapter, TroupeError } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { type Endpoint, endpointOf, isLoopback, type ProviderSources, secretsOf } from './endpoint.ts'
import { findModel } from './find-model.ts'
import { knownProviders } from './known-providers.ts'
import { modelFacts, providerOf } from './model-facts.ts'
import { platform } from './platform.ts'

export interface ModelAdapterOptions extends ProviderSources {
  /** Other names for models: `fast: openai/gpt-5.4-mini`. */
  readonly aliases?: { readonly [alias: string]: string }
  /** Default: the machine's; so too what requests are made with and how files are read. */
  readonly clock?: Clock
  readonly fetch?: typeof fetch
  /** Rejects where there is no such file. */
  readonly readFile?: (path: string) => Promise<string>
  /** What `script/<path>` is relative to: the folder of the agent file. Default: the working directory. */
  readonly baseDir?: string
}

type Settled = Required<Pick<ModelAdapterOptions, 'clock' | 'fetch' | 'readFile' | 'baseDir'>> & ModelAdapterOptions

/**
 * Every model by its name: `openai/gpt-5.4-mini`, `ollama/qwen3`, a bare `claude-sonnet-5`, an alias, `auto`, and those
 * that are no LLM: `rehearsal`, `script/<path>`. Nothing of a provider is loaded before one of its models is asked for.
 */
export function modelAdapter(given: ModelAdapterOptions): ModelAdapter {
  const options: Settled = { ...platform, ...given }
  const models = new Map<string, Promise<Model>>()
  return {
    secrets: secretsOf(options),
    resolve(name) {
      const known = models.get(name)
      if (known) return known
      const loading = load(aliased(name, options.aliases ?? {}), options)
      models.set(name, loading)
      // What was wrong may be mended before somebody asks again.
      loading.catch(() => models.delete(name))
      return loading
    },
  }
}

async function load(name: string, options: Settled): Promise<Model> {
  if (name === 'auto') return load(await findModel(options), options)
  if (name === 'rehearsal') return (await import('./rehearsal/index.ts')).rehearsalModel()
  const [provider = '', ...rest] = name.split('/')
  const model = rest.join('/')
  if (provider === 'script' && model !== '') return scriptOf(name, model, options)
  if (rest.length > 0 && model.trim() !== '') {
    const endpoint = endpointOf(provider, options, name)
    if (!endpoint) throw unknownProvider(name, provider, options)
    return providerModelOf(endpoint, model, options)
  }
  const owner = rest.length === 0 && name !== '' ? await providerOf(name) : undefined
  if (owner === undefined) throw unknownModel(name, options)
  return load(`${owner}/${name}`, options)
}

async function providerModelOf(endpoint: Endpoint, model: string, { clock, fetch }: Settled): Promise<Model> {
  const now = () => clock.now()
  const { provider, kind, settings, keyVariable } = endpoint
  const [{ providerModel }, known] = await Promise.all([import('./providers/index.ts'), modelFacts(provider, model, now)])
  // A model on one's own machine costs nothing, unless its server passes the request on.
  const isFree = settings.baseURL !== undefined && isLoopback(settings.baseURL) && !/[:-]cloud$/.test(model)
  const facts = isFree && known.costOf === undefined ? { ...known, costOf: () => 0 } : known
  return providerModel({ kind, provider, model, settings, keyVariable, facts, now, fetch })
}

async function scriptOf(name: string, file: string, options: Settled): Promise<Model> {
  const path = isAbsolute(file) ? file : join(options.baseDir, file)
  const [{ scriptModel }, text] = await Promise.all([
    import('./script-model.ts'),
    options.readFile(path).catch((cause: unknown) => {
      throw new TroupeError('model_unknown', `the model ${name} needs the script ${path}, which cannot be read`, {
        remedy: `Create it, or give the path relative to ${options.baseDir}.`,
        cause,
      })
    }),
  ])
  return scriptModel(text, path, { id: name, clock: options.clock })
}

/** Follows aliases; one that leads back to itself is told. */
function aliased(name: string, aliases: { readonly [alias: string]: string }): string {
  const seen: string[] = []
  for (let at = name; ; at = aliases[at] as string) {
    if (!Object.hasOwn(aliases, at)) return at
    if (seen.includes(at))
      throw new TroupeError('config_invalid', `The alias ${name} leads back to itself: ${[...seen, at].join(' → ')}.`, {
        remedy: 'Let one of them name a model.',
      })
    seen.push(at)
  }
}

function unknownProvider(name: string, provider: string, options: ModelAdapterOptions): TroupeError {
  const names = [...Object.keys(knownProviders), ...Object.keys(options.providers ?? {}), 'script', 'rehearsal']
  const near = nearestNames(provider, names)
  const hint = near.length > 0 ? `Did you mean ${near.map((each) => `\`${each}\``).join(', ')}?` : `There are ${names.join(', ')}.`
  const variable = `${provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_BASE_URL`
  return new TroupeError('model_unknown', `there is no provider \`${provider}\`, which the model \`${name}\` needs`, {
    remedy: `${hint} Any OpenAI-compatible server will do: export ${variable}=https://…/v1`,
  })
}

function unknownModel(name: string, { aliases = {} }: ModelAdapterOptions): TroupeError {
  const near = nearestNames(name, [...Object.keys(aliases), 'auto', 'rehearsal', ...Object.keys(knownProviders)])
  const hint = near.length > 0 ? `Did you mean ${near.map((each) => `\`${each}\``).join(', ')}? ` : ''
  const example = Object.entries(knownProviders).find(([, { defaultModel }]) => defaultModel !== undefined)
  return new TroupeError('model_unknown', name === '' ? 'there is no model without a name' : `there is no model \`${name}\``, {
    remedy: `${hint}Write provider/model, e.g. \`${example?.[0]}/${example?.[1].defaultModel}\`; or \`auto\`, \`rehearsal\` (no LLM), \`script/<file>\` (no LLM). Providers: ${Object.keys(knownProviders).join(', ')}.`,
  })
}
