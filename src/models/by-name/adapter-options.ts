import { type Clock, type Problem, type ProviderKind, providerKinds, reservedModelNames, TroupeError } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import { profileOf } from '../known-providers.ts'
import { type ProviderSettings, type Variables, wrongAddress } from '../provider-settings.ts'
import { type Fields, isFields } from '../shared/records.ts'

/** A provider of the configuration. Missing settings come from variables or from the known provider. */
export type ProviderConfig =
  | (ProviderSettings & {
      readonly kind: 'openai'
      /** Which of OpenAI's two APIs is used; default `responses`. */
      readonly api?: 'chat' | 'responses'
    })
  /** Default: by its name, else an OpenAI-compatible server. */
  | (ProviderSettings & { readonly kind?: Exclude<ProviderKind, 'openai'> })

export interface ProviderSources {
  /** Variables with keys and addresses: `OPENAI_API_KEY`, `LAB_BASE_URL`. */
  readonly variables: Variables
  readonly providers?: { readonly [name: string]: ProviderConfig }
}

export interface ModelAdapterOptions extends ProviderSources {
  /** Other names for models: `fast: openai/gpt-5.4-mini`. */
  readonly aliases?: { readonly [alias: string]: string }
  /** Default: the system clock, the global `fetch`, and the file system. */
  readonly clock?: Clock
  readonly fetch?: typeof fetch
  /** Rejects if the file does not exist. */
  readonly readFile?: (path: string) => Promise<string>
  /** The base folder of `script/<path>`: the folder of the agent file. Default: the working directory. */
  readonly baseDir?: string
}

export type SettledOptions = ModelAdapterOptions & Required<Pick<ModelAdapterOptions, 'clock' | 'fetch' | 'readFile' | 'baseDir'>>

/** A check of one value: what was expected, if the value is wrong. */
type Check = (value: unknown) => string | undefined

const expecting =
  (what: string, fits: (value: unknown) => boolean): Check =>
  (value) =>
    fits(value) ? undefined : what
const text = expecting('a text', (value) => typeof value === 'string')
const fn = expecting('a function', (value) => typeof value === 'function')
const texts = (value: unknown, isWhole = true) =>
  isFields(value) && Object.values(value).every((each) => typeof each === 'string' || (!isWhole && each === undefined))
const oneOf = (...words: readonly string[]) =>
  expecting(words.map((word) => `"${word}"`).join(' or '), (value) => words.includes(String(value)))

const checks: { readonly [Key in keyof Required<ModelAdapterOptions>]: Check } = {
  variables: expecting('an object of texts', (value) => texts(value, false)),
  providers: expecting('an object of providers by name', isFields),
  aliases: expecting('an object of model names', (value) => texts(value)),
  clock: expecting('a clock with now(), monotonic() and after()', (value) =>
    ['now', 'monotonic', 'after'].every((method) => typeof Reflect.get(Object(value), method) === 'function'),
  ),
  fetch: fn,
  readFile: fn,
  baseDir: text,
}

const providerChecks = {
  kind: oneOf(...providerKinds),
  baseURL: text,
  apiKey: text,
  headers: expecting('an object of texts', (value) => texts(value)),
}
const openAiChecks = { ...providerChecks, api: oneOf('chat', 'responses') }

/** @throws TroupeError `config_invalid` with all problems. */
export function checkOptions(options: unknown): asserts options is ModelAdapterOptions {
  const problems = isFields(options)
    ? optionProblems(options)
    : [{ place: 'options', message: `Expected an object, found ${showValue(options)}.`, remedy: 'Give at least { variables: {} }.' }]
  if (problems.length === 0) return
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}${remedy === undefined ? '' : ` ${remedy}`}`)
  const places = problems.length === 1 ? 'one place' : `${problems.length} places`
  throw new TroupeError('config_invalid', `The options of modelAdapter are wrong in ${places}:\n  ${lines.join('\n  ')}`, { problems })
}

function optionProblems(options: Fields): readonly Problem[] {
  const { variables, aliases, providers } = options
  const problems = fieldProblems(options, checks)
  if (variables === undefined)
    problems.push({ place: 'variables', message: 'It is missing.', remedy: 'Give the variables that contain API keys, or {}.' })
  for (const name of isFields(aliases) ? Object.keys(aliases) : [])
    if (!isFreeName(name))
      problems.push({ place: `aliases.${name}`, message: `An alias ${nameRule}`, remedy: 'Choose another name, such as "fast".' })
  for (const [name, config] of isFields(providers) ? Object.entries(providers) : []) problems.push(...providerProblems(name, config))
  return problems
}

function fieldProblems(fields: Fields, known: { readonly [key: string]: Check }, path = ''): Problem[] {
  return Object.entries(fields).flatMap(([key, value]): readonly Problem[] => {
    const place = `${path}${key}`
    const check = Object.hasOwn(known, key) ? known[key] : undefined
    const [near] = nearestNames(key, Object.keys(known))
    const remedy = near === undefined ? `Known options: ${Object.keys(known).join(', ')}.` : `Did you mean "${near}"?`
    if (!check) return [{ place, message: 'Unknown option.', remedy }]
    const expected = value === undefined ? undefined : check(value)
    // A key may be in the wrong place, so only the type of the value is shown.
    const found = key === 'kind' || key === 'api' ? showValue(value) : typeNameOf(value)
    return expected === undefined ? [] : [{ place, message: `Expected ${expected}, found ${found}.` }]
  })
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object with something else' : `a ${typeof value}`
}

const isFreeName = (name: string): boolean => /^[^\s/]+$/.test(name) && !reservedModelNames.some((reserved) => reserved === name)
const nameRule = `is one word without "/". It cannot be ${reservedModelNames.map((name) => `"${name}"`).join(', ')}: those are reserved.`

function providerProblems(name: string, config: unknown): readonly Problem[] {
  const place = `providers.${name}`
  if (!isFields(config)) return [{ place, message: `Expected an object, found ${typeNameOf(config)}.` }]
  if (!isFreeName(name)) return [{ place, message: `A provider name ${nameRule}`, remedy: 'Choose another name, such as "lab".' }]
  const kind = providerKinds.find((each) => each === config.kind)
  const isOpenAi = profileOf(name, kind).kind === 'openai'
  const { api, ...others } = config
  const problems = fieldProblems(isOpenAi ? config : others, isOpenAi ? openAiChecks : providerChecks, `${place}.`)
  if (api !== undefined && !isOpenAi)
    problems.push({ place: `${place}.api`, message: 'Only a provider of the kind "openai" has this option.', remedy: 'Leave it out.' })
  if (typeof config.baseURL !== 'string') return problems
  const { urlOf, urlExample, home } = profileOf(name)
  const wrong = wrongAddress(urlOf?.(config.baseURL) ?? config.baseURL, urlExample ?? home)
  if (wrong) problems.push({ place: `${place}.baseURL`, message: `It ${wrong.message}`, remedy: wrong.remedy })
  return problems
}

/** The defaults of the options. */
export const platform = {
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, fire) {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
  } satisfies Clock,
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  readFile: async (path: string) => (await import('./script-file.ts')).readScriptFile(path),
  baseDir: '.',
}
