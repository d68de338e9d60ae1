import { resolve } from 'node:path'
import { defaultSandboxPolicy, type Json, type JsonObject, ruleVerdicts } from '../../../contracts/index.ts'
import { hasPlaceholders } from '../../../policy/placeholders.ts'
import { isInside } from '../../../util/is-inside.ts'
import { folderOf } from '../config-places.ts'
import { sectionNames, sectionOf } from '../sections.ts'
import { hasText, type Leaf, mapLeaves, type Sourced, type SourcedMap, showPath, sourcedAt, sourcedToJson } from '../sourced.ts'
import { type Withheld, withheldPart } from './withheld.ts'

/** What happens to a value of an untrusted file. */
type Verdict =
  | { readonly kind: 'keep' }
  /** `value` stays, `rest` is withheld. */
  | { readonly kind: 'split'; readonly value: Json; readonly rest: Json; readonly which: string }
  /** It stays, but can only add restrictions; what it allows beyond that is withheld. */
  | { readonly kind: 'bounded'; readonly why: string }
  | { readonly kind: 'withhold'; readonly why?: string }

function nameOf(path: string, verdict: Exclude<Verdict, { readonly kind: 'keep' }>): string {
  if (verdict.kind === 'split') return `${verdict.which} in ${path}`
  return verdict.why === undefined ? path : `${path}, ${verdict.why}`
}

const keep: Verdict = { kind: 'keep' }
const bounded: Verdict = { kind: 'bounded', why: 'where it allows more than your configuration' }

/** Splits a project's file that nobody has trusted. `own` are the settings of the user, which are weaker than a project's. */
export function withoutUntrusted(tree: SourcedMap, own?: Sourced): { readonly tree: SourcedMap; readonly withheld: readonly Withheld[] } {
  const withheld: Withheld[] = []
  const entries = new Map<string, Sourced>()
  for (const name of sectionNames) {
    const section = tree.entries.get(name)
    if (!section) continue
    const { trust } = sectionOf(name)
    if (trust === 'needed') {
      withheld.push(withheldPart(name, sourcedToJson(section), [name]))
      continue
    }
    const kept = mapLeaves(
      section,
      (leaf) => {
        const verdict = trust === 'to-loosen' ? judgeRestriction(leaf) : judgeFree(leaf, own)
        if (verdict.kind === 'keep') return leaf.value
        const value = verdict.kind === 'split' ? verdict.rest : leaf.value
        withheld.push(withheldPart(nameOf(showPath(leaf.path), verdict), value, leaf.path))
        if (verdict.kind === 'withhold') return undefined
        return verdict.kind === 'split' ? verdict.value : leaf.value
      },
      [name],
    )
    if (kept) entries.set(name, kept)
  }
  return { tree: { ...tree, entries }, withheld }
}

/**
 * In sections that take effect without trust, these values need it: those that read a variable, because the name of a model
 * is sent to its provider; models that play calls from a file, because they would control the tools of other agents; agents
 * outside the folder; and values that override the user's own.
 */
function judgeFree(leaf: Leaf, own: Sourced | undefined): Verdict {
  const { path, value } = leaf
  if (leavesFolder(leaf)) return { kind: 'withhold', why: 'which leave the folder' }
  const why = conflictWithOwn(leaf, own)
  if (why !== undefined) return { kind: 'withhold', why }
  const isGuarded = hasText(value, (text) => hasPlaceholders(text) || (choosesModels(path) && /^\s*(?:script|replay)\//i.test(text)))
  return isGuarded ? { kind: 'withhold' } : keep
}

/** Without trust, a project's configuration does not make Troupe search the disk. */
function leavesFolder({ path, value, origin }: Leaf): boolean {
  const folder = folderOf(origin)
  return path[0] === 'agents' && hasText(value, (text) => !isInside(folder, resolve(folder, text)))
}

/** The user's own choice of a model stays; of two limits, the stricter one applies. */
function conflictWithOwn({ path, value }: Leaf, own: Sourced | undefined): string | undefined {
  const ownValue = sourcedAt(own, path)
  if (ownValue?.kind !== 'value') return undefined
  if (choosesModels(path))
    return JSON.stringify(ownValue.value) === JSON.stringify(value) ? undefined : 'which your own configuration sets too'
  return isLimit(path) && limitOf(value) > limitOf(ownValue.value) ? 'which your own configuration sets lower' : undefined
}

const choosesModels = ([section, key]: readonly string[]): boolean => section === 'models' || (section === 'defaults' && key === 'models')

const isLimit = ([section, key, inner]: readonly string[]): boolean =>
  section === 'queues' || (section === 'defaults' && (key === 'limits' || (key === 'parameters' && inner === 'maxOutputTokens')))

/** `false` means one at a time, `true` the default. */
const limitOf = (value: Json): number => (typeof value === 'boolean' ? (value ? Number.POSITIVE_INFINITY : 1) : Number(value))

/** Keeps restrictions. Lists and sizes of a sandbox stay, because other layers may allow more; `sandboxOf` intersects them. */
function judgeRestriction({ path, value }: Leaf): Verdict {
  switch (path.join('.')) {
    case 'approvals.rules':
      return judgeRules(value as readonly JsonObject[])
    case 'sandbox.mode':
      return value === 'off' ? { kind: 'withhold' } : keep
    case 'sandbox.hosts':
    case 'sandbox.privateHosts':
    case 'sandbox.writable':
    case 'sandbox.environment':
      return (value as readonly Json[]).length > 0 ? bounded : keep
    case 'sandbox.memory':
      return Number(value) > defaultSandboxPolicy.memory ? bounded : keep
    case 'sandbox.processes':
      return Number(value) > defaultSandboxPolicy.processes ? bounded : keep
    case 'skills.directories':
      return { kind: 'withhold' }
    default:
      return keep
  }
}

function judgeRules(rules: readonly JsonObject[]): Verdict {
  const [allow] = ruleVerdicts
  const value = rules.filter((rule) => rule[allow] === undefined)
  const rest = rules.filter((rule) => rule[allow] !== undefined)
  if (rest.length === 0) return keep
  return { kind: 'split', value, rest, which: rest.length === 1 ? 'the allow rule' : `the ${rest.length} allow rules` }
}
