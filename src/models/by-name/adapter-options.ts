import { type Clock, type Problem, type ProviderKind, providerKinds, reservedModelNames } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import {
  aBoolean,
  aFunction,
  aString,
  checkField,
  checkOnlyFields,
  type FieldType,
  oneOf,
  optional,
  problemsError,
} from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { Fields } from '../../util/unknown-fields.ts'
import { profileOf } from '../known-providers.ts'
import { type ProviderSettings, type Variables, wrongAddress } from '../provider-settings.ts'

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
  /** `false`: the texts of scripts arrive immediately, also if a script has a `pace`. Default: `true`. */
  readonly pacesScripts?: boolean
}

export type SettledOptions = ModelAdapterOptions & Required<Pick<ModelAdapterOptions, 'clock' | 'fetch' | 'readFile' | 'baseDir'>>

const texts = (expected: string, isWhole = true): FieldType => ({
  expected,
  isSecret: true,
  accepts: (value) => isRecord(value) && Object.values(value).every((each) => typeof each === 'string' || (!isWhole && each === undefined)),
})
const secretText: FieldType = { ...aString, isSecret: true }

const optionFields: { readonly [Key in keyof Required<ModelAdapterOptions>]: FieldType } = {
  variables: { ...texts('an object of strings', false), remedy: 'Give the variables that contain API keys, or {}.' },
  providers: optional({ expected: 'an object of providers by name', isSecret: true, accepts: isRecord }),
  aliases: optional(texts('an object of model names')),
  clock: optional({
    expected: 'a clock with now(), monotonic() and after()',
    accepts: (value) => ['now', 'monotonic', 'after'].every((method) => typeof Reflect.get(Object(value), method) === 'function'),
  }),
  fetch: optional(aFunction),
  readFile: optional(aFunction),
  baseDir: optional(aString),
  pacesScripts: optional(aBoolean),
}

const providerFields: { readonly [key: string]: FieldType } = {
  kind: optional(oneOf(providerKinds)),
  baseURL: optional(secretText),
  apiKey: optional(secretText),
  headers: optional(texts('an object of strings')),
}
const openAiFields = { ...providerFields, api: optional(oneOf(['chat', 'responses'])) }

/** @throws TroupeError `config_invalid` with all problems. */
export function checkOptions(options: unknown): asserts options is ModelAdapterOptions {
  const problems: Problem[] = []
  if (isRecord(options)) checkOptionFields(problems, options)
  else
    problems.push({
      place: 'options',
      message: `expected an object, found ${showValue(options)}`,
      remedy: 'Give at least { variables: {} }.',
    })
  if (problems.length > 0) throw problemsError('config_invalid', 'options of modelAdapter', problems)
}

function checkOptionFields(problems: Problem[], options: Fields): void {
  const { aliases, providers } = options
  checkOnlyFields(problems, options, { fields: optionFields, place: 'options' })
  for (const name of isRecord(aliases) ? Object.keys(aliases) : [])
    if (!isFreeName(name))
      problems.push({ place: `options.aliases.${name}`, message: `an alias ${nameRule}`, remedy: 'Choose another name, such as "fast".' })
  for (const [name, config] of isRecord(providers) ? Object.entries(providers) : []) checkProvider(problems, name, config)
}

const isFreeName = (name: string): boolean => /^[^\s/]+$/.test(name) && !reservedModelNames.some((reserved) => reserved === name)
const nameRule = `must be one word without "/", and none of the reserved names ${reservedModelNames.join(', ')}`

function checkProvider(problems: Problem[], name: string, config: unknown): void {
  const place = `options.providers.${name}`
  checkField(problems, config, { type: { expected: 'an object', isSecret: true, accepts: isRecord }, place })
  if (!isRecord(config)) return
  if (!isFreeName(name))
    return void problems.push({ place, message: `a provider name ${nameRule}`, remedy: 'Choose another name, such as "lab".' })
  const kind = providerKinds.find((each) => each === config.kind)
  const isOpenAi = profileOf(name, kind).kind === 'openai'
  const { api, ...others } = config
  checkOnlyFields(problems, isOpenAi ? config : others, { fields: isOpenAi ? openAiFields : providerFields, place })
  if (api !== undefined && !isOpenAi)
    problems.push({ place: `${place}.api`, message: 'only a provider of the kind "openai" has this option', remedy: 'Leave it out.' })
  if (typeof config.baseURL !== 'string') return
  const { urlOf, urlExample, home } = profileOf(name)
  const wrong = wrongAddress(urlOf?.(config.baseURL) ?? config.baseURL, urlExample ?? home)
  if (wrong) problems.push({ place: `${place}.baseURL`, message: `it ${wrong.message.replace(/\.$/, '')}`, remedy: wrong.remedy })
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
