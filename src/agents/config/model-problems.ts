import type { Problem } from '../../contracts/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { type FileOrigin, keysOf, type Sourced, showPath, sourcedAt } from './sourced.ts'

/** What is wrong with providers and aliases as the layers have them together; what a file can tell alone is told by its shape. */
export function modelProblems(settings: Sourced | undefined): readonly Problem[] {
  return [...apiProblems(sourcedAt(settings, ['providers'])), ...aliasCycles(sourcedAt(settings, ['models']))]
}

/** One layer may say what a provider is, and another how it is spoken to. */
function apiProblems(providers: Sourced | undefined): readonly Problem[] {
  return keysOf(providers).flatMap((name): readonly Problem[] => {
    const api = sourcedAt(providers, [name, 'api'])
    const kind = textAt(providers, [name, 'kind']) ?? (name === 'openai' ? 'openai' : undefined)
    if (!api || kind === 'openai') return []
    const message = `\`${showPath(['providers', name, 'api'])}\` is only for a provider whose \`kind\` is \`openai\``
    return [problemAt(api.origin, message, 'Leave it out, or say `"kind": "openai"`.')]
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
    const message = `\`${showPath(['models', first])}\` leads back to itself: ${[first, ...others, first].join(' → ')}`
    return alias ? [problemAt(alias.origin, message, 'Let one of them name a model.')] : []
  })
}

function textAt(tree: Sourced | undefined, path: readonly string[]): string | undefined {
  const at = sourcedAt(tree, path)
  return at?.kind === 'value' && typeof at.value === 'string' ? at.value : undefined
}

const problemAt = ({ file, line, column }: FileOrigin, message: string, remedy: string): Problem => ({
  place: `${file}:${line}:${column}`,
  message,
  remedy,
})
