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

/** @throws TroupeError `config_invalid` with every problem at once. */
export function checkOptions(options: unknown): asserts options is ModelAdapterOptions {
  const problems = isFields(options)
    ? [...fieldProblems(options, checks), ...missing(options), ...aliasProblems(options.aliases), ...providerProblems(options.providers)]
    : [{ place: 'options', message: `Expected an object, found ${showValue(options)}.`, remedy: 'Give at least { variables: {} }.' }]
  if (problems.length === 0) return
  const lines = problems.map(({ place, message, remedy }) =>
    [`${place}: ${message}`, remedy].filter((each) => each !== undefined).join(' '),
  )
  const places = problems.length === 1 ? 'one place' : `${problems.length} places`
  throw new TroupeError('config_invalid', `The options of modelAdapter are wrong in ${places}:\n  ${lines.join('\n  ')}`, { problems })
}

const missing = ({ variables }: Fields): readonly Problem[] =>
  variables === undefined
    ? [{ place: 'variables', message: 'It is missing.', remedy: 'Give the variables that contain API keys, or {}.' }]
    : []

function fieldProblems(fields: Fields, known: { readonly [key: string]: Check }, path = ''): readonly Problem[] {
  return Object.entries(fields).flatMap(([key, value]): readonly Problem[] => {
    const place = `${path}${key}`
    const check = Object.hasOwn(known, key) ? known[key] : undefined
    if (!check) return [{ place, message: 'Unknown option.', remedy: suggestion(key, Object.keys(known)) }]
    const expected = value === undefined ? undefined : check(value)
    // A key may be in the wrong place, so only the type of the value is shown.
    return expected === undefined ? [] : [{ place, message: `Expected ${expected}, found ${shown(key, value)}.` }]
  })
}

const shown = (key: string, value: unknown): string => (key === 'kind' || key === 'api' ? showValue(value) : kindOf(value))

const kindOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object with something else'
        : `a ${typeof value}`

function suggestion(key: string, known: readonly string[]): string {
  const [near] = nearestNames(key, known)
  return near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"?`
}

const isOwnWord = (name: string): boolean => /^[^\s/]+$/.test(name) && !reservedModelNames.some((own) => own === name)
const ownNames = reservedModelNames.map((name) => `"${name}"`).join(', ')

/** Aliases cannot override full names, `auto` or `rehearsal`. */
function aliasProblems(aliases: unknown): readonly Problem[] {
  if (!isFields(aliases)) return []
  return Object.keys(aliases).flatMap((name): readonly Problem[] =>
    isOwnWord(name)
      ? []
      : [
          {
            place: `aliases.${name}`,
            message: `An alias is one word without "/". It cannot be ${ownNames}: those are reserved.`,
            remedy: 'Choose another name, such as "fast".',
          },
        ],
  )
}

const misnamed = `A provider name is one word without "/". It cannot be ${ownNames}: those are reserved.`

function providerProblems(providers: unknown): readonly Problem[] {
  if (!isFields(providers)) return []
  return Object.entries(providers).flatMap(([name, config]): readonly Problem[] => {
    const place = `providers.${name}`
    if (!isFields(config)) return [{ place, message: `Expected an object, found ${kindOf(config)}.` }]
    if (!isOwnWord(name)) return [{ place, message: misnamed, remedy: 'Choose another name, such as "lab".' }]
    const kind = providerKinds.find((each) => each === config.kind)
    const isOpenAi = profileOf(name, kind).kind === 'openai'
    const { api, ...others } = config
    return [
      ...fieldProblems(isOpenAi ? config : others, isOpenAi ? openAiChecks : providerChecks, `${place}.`),
      ...(api !== undefined && !isOpenAi
        ? [{ place: `${place}.api`, message: 'Only a provider of the kind "openai" has this option.', remedy: 'Leave it out.' }]
        : []),
      ...addressProblems(config.baseURL, name),
    ]
  })
}

function addressProblems(baseURL: unknown, name: string): readonly Problem[] {
  if (typeof baseURL !== 'string') return []
  const { urlOf, urlExample, home } = profileOf(name)
  const wrong = wrongAddress(urlOf?.(baseURL) ?? baseURL, urlExample ?? home)
  return wrong ? [{ place: `providers.${name}.baseURL`, message: `It ${wrong.message}`, remedy: wrong.remedy }] : []
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
