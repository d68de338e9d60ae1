import { resolve } from 'node:path'
import { defaultSandboxPolicy, type Json, type JsonObject, ruleVerdicts } from '../../../contracts/index.ts'
import { isInside } from '../../../util/is-inside.ts'
import { folderOf } from '../config-places.ts'
import { type SectionName, sectionNames, sectionOf } from '../sections.ts'
import { filterLeaves, hasText, type Leaf, type Sourced, type SourcedMap, showPath, sourcedAt, sourcedToJson } from '../sourced.ts'
import { hasPlaceholders } from '../variables/placeholders.ts'
import { type Withheld, withheldPart } from './withheld.ts'

export interface Admission {
  readonly tree: SourcedMap
  /** What is kept out until a person trusts the file. */
  readonly withheld: readonly Withheld[]
}

/** What of a project's file counts before anybody has trusted it, beside what a person says in weaker files of their own. */
export function withoutUntrusted(tree: SourcedMap, own?: Sourced): Admission {
  const withheld: Withheld[] = []
  const entries = new Map<string, Sourced>()
  for (const name of sectionNames) {
    const section = tree.entries.get(name)
    if (!section) continue
    if (sectionOf(name).trust === 'needed') {
      withheld.push(withheldPart(name, sourcedToJson(section), [name]))
      continue
    }
    if (sectionOf(name).trust === 'to-loosen') {
      const strict = onlyStricter(section, name)
      withheld.push(...strict.withheld)
      if (strict.kept) entries.set(name, strict.kept)
      continue
    }
    const kept = filterLeaves(
      section,
      (leaf) => {
        const why = leavesFolder(leaf) ? 'which leave the folder' : conflictWithOwn(leaf, own)
        const isKept = !isGuarded(leaf) && why === undefined
        const shown = showPath(leaf.path)
        if (!isKept) withheld.push(withheldPart(why === undefined ? shown : `${shown}, ${why}`, leaf.value, leaf.path))
        return isKept
      },
      [name],
    )
    if (kept) entries.set(name, kept)
  }
  return { tree: { ...tree, entries }, withheld }
}

/**
 * In the sections that count without trust: whatever would read a variable, since a model's name goes to its provider; and
 * a model that plays its calls from a file, since it would drive the tools of agents that are not the project's.
 */
function isGuarded({ path, value }: Leaf): boolean {
  return hasText(value, (text) => hasPlaceholders(text) || (choosesModels(path) && /^\s*(?:script|replay)\//i.test(text)))
}

/** Agents are looked for in the folder that says so: somebody who cloned it has not agreed to a search of the disk. */
function leavesFolder({ path, value, origin }: Leaf): boolean {
  const folder = folderOf(origin)
  return path[0] === 'agents' && hasText(value, (text) => !isInside(folder, resolve(folder, text)))
}

export interface Restriction {
  readonly kept: Sourced | undefined
  readonly withheld: readonly Withheld[]
}

type Verdict =
  | { readonly kind: 'kept' }
  /** Something else is left of it. `why` tells what waits, `rest` is it. */
  | { readonly kind: 'less'; readonly value: Json; readonly rest: Json; readonly why: string }
  /** It stays, and can only make things stricter; what it asks for beyond that waits. */
  | { readonly kind: 'bounded'; readonly why: string }
  | { readonly kind: 'withheld' }

const kept: Verdict = { kind: 'kept' }

/**
 * What of a section may count while nobody has trusted the file: whatever makes things stricter. Lists and sizes of a
 * sandbox stay, since others may allow more; `sandboxOf` takes nothing from them that nobody else allows.
 */
export function onlyStricter(section: Sourced, name: SectionName): Restriction {
  const withheld: Withheld[] = []
  const verdicts = new Map<string, Verdict>()
  const strict = filterLeaves(
    section,
    (leaf) => {
      const verdict = judge(leaf)
      verdicts.set(leaf.path.join('\0'), verdict)
      const shown = showPath(leaf.path)
      const name = 'why' in verdict ? `${shown}, ${verdict.why}` : shown
      if (verdict.kind !== 'kept') withheld.push(withheldPart(name, verdict.kind === 'less' ? verdict.rest : leaf.value, leaf.path))
      return verdict.kind !== 'withheld'
    },
    [name],
  )
  return { kept: strict && applyVerdicts(strict, [name], verdicts), withheld }
}

function applyVerdicts(tree: Sourced, path: readonly string[], verdicts: ReadonlyMap<string, Verdict>): Sourced {
  if (tree.kind === 'map')
    return { ...tree, entries: new Map([...tree.entries].map(([key, inner]) => [key, applyVerdicts(inner, [...path, key], verdicts)])) }
  const verdict = verdicts.get(path.join('\0'))
  return verdict?.kind === 'less' ? { ...tree, value: verdict.value } : tree
}

function judge({ path, value }: Leaf): Verdict {
  switch (path.join('.')) {
    case 'approvals.rules':
      return judgeRules(value as readonly JsonObject[])
    case 'sandbox.mode':
      return value === 'off' ? { kind: 'withheld' } : kept
    case 'sandbox.hosts':
    case 'sandbox.privateHosts':
    case 'sandbox.writable':
    case 'sandbox.environment':
      return (value as readonly Json[]).length > 0 ? beyond : kept
    case 'sandbox.memory':
      return Number(value) > defaultSandboxPolicy.memory ? beyond : kept
    case 'sandbox.processes':
      return Number(value) > defaultSandboxPolicy.processes ? beyond : kept
    case 'skills.directories':
      return { kind: 'withheld' }
    default:
      return kept
  }
}

const beyond: Verdict = { kind: 'bounded', why: 'as far as nobody else allows it' }

function judgeRules(rules: readonly JsonObject[]): Verdict {
  const [loose] = ruleVerdicts
  const strict = rules.filter((rule) => rule[loose] === undefined)
  const rest = rules.filter((rule) => rule[loose] !== undefined)
  const count = rest.length
  if (count === 0) return kept
  return { kind: 'less', value: strict, rest, why: count === 1 ? 'the one that allows something' : `the ${count} that allow something` }
}

/**
 * Why a word of a project that nobody has trusted waits, though it would count if the person had said nothing about it
 * in files of their own: a name for a model stands for what they say, and of two bounds the stricter counts.
 */
export function conflictWithOwn({ path, value }: Leaf, own: Sourced | undefined): string | undefined {
  const said = sourcedAt(own, path)
  if (said?.kind !== 'value') return undefined
  if (choosesModels(path))
    return JSON.stringify(said.value) === JSON.stringify(value) ? undefined : 'which your own configuration says, too'
  return bounds(path) && sizeOf(value) > sizeOf(said.value) ? 'which your own configuration sets lower' : undefined
}

/** Whether which model is asked is said there. */
export const choosesModels = ([section, key]: readonly string[]): boolean =>
  section === 'models' || (section === 'defaults' && key === 'models')

/** Whether how much may be spent is said there. */
const bounds = ([section, key, inner]: readonly string[]): boolean =>
  section === 'queues' || (section === 'defaults' && (key === 'limits' || (key === 'parameters' && inner === 'maxOutputTokens')))

/** Some bounds can be switched off and on, too: `false` is one at a time, `true` as many as there are. */
const sizeOf = (value: Json): number => (typeof value === 'boolean' ? (value ? Number.POSITIVE_INFINITY : 1) : Number(value))
