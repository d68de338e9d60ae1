import { type Json, type ProviderKind, TroupeError } from '../../../contracts/index.ts'
import { type ConfigDiagnostic, settingsOf } from '../config.ts'
import { isSecretName, secretName } from '../hide-secrets.ts'
import { keysOf, type Sourced, showPath, sourcedAt } from '../sourced.ts'
import { type Part, resolveParts, type UsedVariable, type VariableSources } from './resolve-placeholders.ts'

/** A configured provider with resolved placeholders. */
interface OverlayProvider {
  readonly kind?: ProviderKind
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers?: { readonly [name: string]: string }
  readonly api?: 'chat' | 'responses'
}

/** Everything that a session sees of its environment. Frozen. */
export interface Overlay {
  readonly variables: { readonly [name: string]: string }
  /** The providers that the models of the session need. */
  readonly providers: { readonly [name: string]: OverlayProvider }
  readonly aliases: { readonly [alias: string]: string }
  /** Values to redact, by name. */
  readonly secrets: { readonly [name: string]: string }
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** Throws `config_invalid` if a variable is missing; `auto` and names without provider leave out such providers instead. */
export function overlayFor(models: readonly string[], sources: VariableSources): Overlay {
  const found = findProviders(models, sources)
  const named = resolveParts(found.named, sources)
  const { resolved, diagnostics } = resolveLeniently(found.others, sources)
  const all = [...found.named.map((part, index) => ({ part, value: named.values[index] ?? null })), ...resolved]
  const providers = Object.fromEntries(all.map(({ part, value }) => [part.path.at(-1) ?? '', value as OverlayProvider]))
  const used = [...found.used, ...named.used, ...resolved.flatMap((each) => each.used)]
  const variables = variablesOf(sources)
  return frozen({
    variables,
    providers,
    aliases: found.aliases,
    secrets: secretsOf(providers, { written: writtenVariables(sources), used }),
    diagnostics,
  })
}

interface Found {
  readonly named: readonly Part[]
  readonly others: readonly Part[]
  readonly aliases: { readonly [alias: string]: string }
  readonly used: readonly UsedVariable[]
}

/** The configured providers of the models, after aliases. */
function findProviders(models: readonly string[], sources: VariableSources): Found {
  const { aliases, used } = aliasesFor(models, sources)
  const tree = settingsOf(sources.config, 'providers')
  const ends = models.map((name) => followAlias(name, aliases))
  const isOpen = ends.some((name) => !name.includes('/') && name !== 'rehearsal')
  const wanted = new Set(ends.flatMap((name) => (name.includes('/') ? [name.slice(0, name.indexOf('/'))] : [])))
  const parts = keysOf(tree).flatMap((name): readonly Part[] => {
    const provider = sourcedAt(tree, [name])
    return provider ? [{ path: ['providers', name], tree: provider }] : []
  })
  const isNamed = ({ path }: Part): boolean => wanted.has(path.at(-1) ?? '')
  return { named: parts.filter(isNamed), others: isOpen ? parts.filter((part) => !isNamed(part)) : [], aliases, used }
}

/** All aliases, but those with variables only if a model refers to them. */
function aliasesFor(models: readonly string[], sources: VariableSources): Pick<Found, 'aliases' | 'used'> {
  const tree = settingsOf(sources.config, 'models')
  const aliases = new Map<string, string>()
  const used: UsedVariable[] = []
  const resolve = (name: string, alias: Sourced): string => {
    const resolved = resolveParts([{ path: ['models', name], tree: alias }], sources)
    used.push(...resolved.used)
    return String(resolved.values[0] ?? '')
  }
  for (const name of models) {
    for (let at = name; !aliases.has(at); ) {
      const alias = sourcedAt(tree, [at])
      if (!alias) break
      const target = resolve(at, alias)
      aliases.set(at, target)
      at = target
    }
  }
  for (const name of keysOf(tree)) {
    const alias = sourcedAt(tree, [name])
    if (!aliases.has(name) && alias?.kind === 'value' && !String(alias.value).includes('${')) aliases.set(name, String(alias.value))
  }
  return { aliases: Object.fromEntries(aliases), used }
}

/** The model that an alias stands for. Stops at a cycle, which is reported when the model is requested. */
function followAlias(name: string, aliases: { readonly [alias: string]: string }): string {
  const seen = new Set<string>()
  let at = name
  while (Object.hasOwn(aliases, at) && !seen.has(at)) {
    seen.add(at)
    at = aliases[at] ?? ''
  }
  return at
}

function resolveLeniently(parts: readonly Part[], sources: VariableSources) {
  const resolved: { readonly part: Part; readonly value: Json; readonly used: readonly UsedVariable[] }[] = []
  const diagnostics: ConfigDiagnostic[] = []
  for (const part of parts) {
    try {
      const { values, used } = resolveParts([part], sources)
      resolved.push({ part, value: values[0] ?? null, used })
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      for (const { place, message, remedy = '' } of error.problems)
        diagnostics.push({ code: 'provider_left_out', severity: 'info', place, message, remedy })
    }
  }
  return { resolved, diagnostics }
}

/** The variables of all layers and the process environment. The strongest layer wins; empty variables are left out. */
export function variablesOf(sources: VariableSources): { readonly [name: string]: string } {
  const variables: Record<string, string> = Object.create(null)
  for (const { name, value } of writtenVariables(sources)) if (!(name in variables)) variables[name] = value
  return variables
}

interface WrittenVariable {
  readonly name: string
  readonly value: string
}

function writtenVariables({ config, environment }: VariableSources): readonly WrittenVariable[] {
  const inFiles = config.layers.flatMap(({ variables }) =>
    variables.flatMap(({ values }) => [...values].map(([name, { value }]) => ({ name, value }))),
  )
  const inProcess = Object.keys(environment).map((name) => ({ name, value: environment[name] ?? '' }))
  return [...inFiles, ...inProcess].filter(({ value }) => value !== '')
}

interface SecretSources {
  /** Strongest first, including variables that a stronger layer hides. */
  readonly written: readonly WrittenVariable[]
  readonly used: readonly UsedVariable[]
}

/** Every name is one that a redactor treats as a secret. */
function secretsOf(providers: Overlay['providers'], { written, used }: SecretSources): Overlay['secrets'] {
  const secrets = new Map<string, string>()
  const add = (name: string, value: string): void => {
    const secret = secretName(name)
    let free = secret
    for (let n = 2; secrets.has(free) && secrets.get(free) !== value; n++) free = `${secret} (${n})`
    secrets.set(free, value)
  }
  for (const { name, value } of written) if (isSecretName(name)) add(name, value)
  for (const [name, { apiKey, headers = {} }] of Object.entries(providers)) {
    if (apiKey !== undefined) add(showPath(['providers', name, 'apiKey']), apiKey)
    for (const [header, value] of Object.entries(headers))
      if (isSecretName(header)) add(showPath(['providers', name, 'headers', header]), value)
  }
  // A variable in a key or a header is a secret.
  for (const { name, value, path } of used) if (path[2] === 'apiKey' || path[2] === 'headers') add(name, value)
  return Object.fromEntries(secrets)
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}
