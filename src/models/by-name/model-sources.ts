import { resolve } from 'node:path'
import type { Model } from '../../contracts/index.ts'
import { knownProvider, knownProviders } from '../known-providers.ts'
import { isLoopback } from '../provider-settings.ts'
import type { SettledOptions } from './adapter-options.ts'
import { endpointOf } from './endpoint.ts'
import { unknownModel, unknownProvider } from './unknown-model.ts'

/** A source of models, found by the first part of a model name. */
interface ModelSource {
  /** What follows its name and a slash; nothing if the name is complete. */
  readonly rest?: string
  readonly summary: string
  load(asked: AskedModel, options: SettledOptions): Promise<Model>
}

interface AskedModel {
  readonly name: string
  readonly source: string
  readonly rest: string
}

// A source is loaded when it is used.

const ofProvider = (summary: string): ModelSource => ({
  rest: 'model',
  summary,
  async load({ name, source, rest: model }, options) {
    const endpoint = endpointOf(source, options, name)
    if (!endpoint) throw unknownProvider(name, sourcesIn(options), options)
    const { clock, fetch } = options
    const [{ providerModel }, { bundledFacts }] = await Promise.all([import('../providers/index.ts'), import('./prices.ts')])
    const known = await bundledFacts(source, model, () => clock.now())
    // Models on a local server are free, unless the server forwards requests. Another local address may be a proxy to a paid
    // service.
    const runsModels = knownProvider(source)?.access === 'local' && isLoopback(endpoint.settings.baseURL ?? '')
    const isFree = runsModels && !/[:-]cloud$/.test(model)
    const facts = isFree && known.costOf === undefined ? { ...known, costOf: () => 0 } : known
    return providerModel({ ...endpoint, model, facts, clock, fetch })
  },
})

/** The built-in sources. */
export const modelSources: { readonly [name: string]: ModelSource } = {
  auto: {
    summary: 'the first provider whose key is there, else a model of a server on this machine',
    async load(_asked, options) {
      const { findModel } = await import('./find-model.ts')
      return loadModel(await findModel(options), options)
    },
  },
  rehearsal: {
    summary: 'a stand-in that needs neither key nor network: rules, no LLM',
    load: async () => (await import('../rehearsal/index.ts')).rehearsalModel(),
  },
  script: { rest: 'file', summary: 'the recorded replies and prices of a YAML file: no LLM', load: loadScript },
  ...Object.fromEntries(Object.entries(knownProviders).map(([name, { label }]) => [name, ofProvider(label)])),
}

export const modelSourceNames: readonly string[] = Object.keys(modelSources)

/** With the configured providers. A variable alone can also name a provider: `LAB_BASE_URL`. */
const sourcesIn = ({ providers = {} }: SettledOptions): { readonly [name: string]: ModelSource } => ({
  ...Object.fromEntries(Object.keys(providers).map((name) => [name, ofProvider(name)])),
  ...modelSources,
})

export async function loadModel(name: string, options: SettledOptions): Promise<Model> {
  const [source = '', ...behind] = name.split('/')
  const rest = behind.join('/')
  const sources = sourcesIn(options)
  const found = Object.hasOwn(sources, source) ? sources[source] : undefined
  const isComplete = found && (found.rest === undefined ? behind.length === 0 : rest.trim() !== '')
  if (found && isComplete) return found.load({ name, source, rest }, options)
  if (!found && rest.trim() !== '') return ofProvider(source).load({ name, source, rest }, options)
  const { providerOf } = await import('./prices.ts')
  const provider = !found && behind.length === 0 && name !== '' ? await providerOf(name) : undefined
  if (provider === undefined) throw unknownModel(name, sources, options)
  return loadModel(`${provider}/${name}`, options)
}

async function loadScript(
  { name, rest: file }: AskedModel,
  { baseDir, readFile, clock, pacesScripts = true }: SettledOptions,
): Promise<Model> {
  const folder = resolve(baseDir)
  const path = resolve(folder, file)
  const [{ scriptModel }, { scriptText }] = await Promise.all([import('../script-model.ts'), import('./script-file.ts')])
  return scriptModel(await scriptText({ name, path, folder }, readFile), path, { id: name, clock, pacesScripts })
}
