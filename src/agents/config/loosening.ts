import { defaultSandboxPolicy, type Json, type JsonObject, ruleVerdicts } from '../../contracts/index.ts'
import { showPath } from './origin.ts'
import type { SectionName } from './sections.ts'
import { type Leaf, pruned, type Sourced } from './sourced.ts'
import { type Withheld, withheldPart } from './withheld.ts'

export interface Tightening {
  readonly kept: Sourced | undefined
  readonly withheld: readonly Withheld[]
}

type Judged =
  | { readonly kind: 'kept' }
  /** Something else is left of it. `why` tells what waits, `rest` is it. */
  | { readonly kind: 'less'; readonly value: Json; readonly rest: Json; readonly why: string }
  /** It stays, and can only make things stricter; what it asks for beyond that waits. */
  | { readonly kind: 'bounded'; readonly why: string }
  | { readonly kind: 'withheld' }

const kept: Judged = { kind: 'kept' }

/**
 * What of a section may count while nobody has trusted the file: whatever makes things stricter. Lists and sizes of a
 * sandbox stay, since others may allow more; `sandboxOf` takes nothing from them that nobody else allows.
 */
export function withoutLoosening(section: Sourced, name: SectionName): Tightening {
  const withheld: Withheld[] = []
  const judged = new Map<string, Judged>()
  const strict = pruned(
    section,
    (leaf) => {
      const judgement = judge(leaf)
      judged.set(leaf.path.join('\0'), judgement)
      const shown = showPath(leaf.path)
      const name = 'why' in judgement ? `${shown}, ${judgement.why}` : shown
      if (judgement.kind !== 'kept') withheld.push(withheldPart(name, judgement.kind === 'less' ? judgement.rest : leaf.value, leaf.path))
      return judgement.kind !== 'withheld'
    },
    [name],
  )
  return { kept: strict && lessened(strict, [name], judged), withheld }
}

function lessened(tree: Sourced, path: readonly string[], judged: ReadonlyMap<string, Judged>): Sourced {
  if (tree.kind === 'map')
    return { ...tree, entries: new Map([...tree.entries].map(([key, inner]) => [key, lessened(inner, [...path, key], judged)])) }
  const judgement = judged.get(path.join('\0'))
  return judgement?.kind === 'less' ? { ...tree, value: judgement.value } : tree
}

function judge({ path, value }: Leaf): Judged {
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

const beyond: Judged = { kind: 'bounded', why: 'as far as nobody else allows it' }

function judgeRules(rules: readonly JsonObject[]): Judged {
  const [loose] = ruleVerdicts
  const strict = rules.filter((rule) => rule[loose] === undefined)
  const rest = rules.filter((rule) => rule[loose] !== undefined)
  const count = rest.length
  if (count === 0) return kept
  return { kind: 'less', value: strict, rest, why: count === 1 ? 'the one that allows something' : `the ${count} that allow something` }
}
