import type { Problem } from '../../contracts/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { keysOf, placeOf, type Sourced, showPath, sourcedAt } from './sourced.ts'

/** Problems of providers and aliases that appear only when layers are merged. */
export function modelProblems(settings: Sourced | undefined): readonly Problem[] {
  return [...apiProblems(sourcedAt(settings, ['providers'])), ...aliasCycles(sourcedAt(settings, ['models']))]
}

function apiProblems(providers: Sourced | undefined): readonly Problem[] {
  return keysOf(providers).flatMap((name): readonly Problem[] => {
    const api = sourcedAt(providers, [name, 'api'])
    const kind = textAt(providers, [name, 'kind']) ?? (name === 'openai' ? 'openai' : undefined)
    if (!api || kind === 'openai') return []
    const message = `\`${showPath(['providers', name, 'api'])}\` is only for a provider whose \`kind\` is \`openai\``
    return [{ place: placeOf(api.origin), message, remedy: 'Remove it, or set `"kind": "openai"`.' }]
  })
}

function aliasCycles(models: Sourced | undefined): readonly Problem[] {
  const names = keysOf(models)
  const known = new Set(names)
  const edgesFrom = (name: string): readonly { readonly to: string }[] => {
    const to = textAt(models, [name])
    return to !== undefined && known.has(to) ? [{ to }] : []
  }
  return findCycles(names, edgesFrom).flatMap(({ nodes: [first = '', ...others] }) => {
    const alias = sourcedAt(models, [first])
    const message = `\`${showPath(['models', first])}\` refers to itself: ${[first, ...others, first].join(' → ')}`
    return alias ? [{ place: placeOf(alias.origin), message, remedy: 'Set one of them to a model.' }] : []
  })
}

function textAt(tree: Sourced | undefined, path: readonly string[]): string | undefined {
  const at = sourcedAt(tree, path)
  return at?.kind === 'value' && typeof at.value === 'string' ? at.value : undefined
}
