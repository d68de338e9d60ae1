import type { ExtensionProblem } from '../../contracts/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { knownNames } from '../../util/nearest-names.ts'

interface OrderedExtension {
  readonly id: string
  readonly dependsOn: readonly string[]
  readonly usesTools: readonly string[]
}

interface LoadOrder {
  /** Those without dependencies first, then those that need only them, and so on. Only those without problems. */
  readonly order: readonly string[]
  readonly problems: ReadonlyMap<string, readonly ExtensionProblem[]>
}

/** `known`: the ids of all extensions that were found, including broken ones. */
export function orderExtensions(extensions: readonly OrderedExtension[], known: readonly string[]): LoadOrder {
  const problems = new Map<string, ExtensionProblem[]>()
  const report = (id: string, problem: ExtensionProblem): void => void problems.set(id, [...(problems.get(id) ?? []), problem])
  const byId = new Map(extensions.map((each) => [each.id, each]))
  const neededBy = (id: string): readonly string[] => {
    const extension = byId.get(id)
    return extension ? [...new Set([...extension.dependsOn, ...extension.usesTools])] : []
  }
  for (const { id, dependsOn, usesTools } of extensions)
    for (const [key, ids] of [
      ['depends_on', dependsOn],
      ['agent.uses_tools', usesTools],
    ] as const)
      for (const missing of ids.filter((each) => !known.includes(each)))
        report(id, {
          place: `${id}: ${key}`,
          message: `the extension \`${missing}\` does not exist`,
          remedy: knownNames(missing, known, 'extension'),
        })
  for (const { nodes } of findCycles(byId.keys(), (id) => neededBy(id).map((to) => ({ to }))))
    for (const id of nodes) {
      const start = nodes.indexOf(id)
      const path = [...nodes.slice(start), ...nodes.slice(0, start), id].join(' → ')
      report(id, {
        place: id,
        message: `the dependencies form a cycle: ${path}`,
        remedy: 'Remove one of them from `depends_on` or `uses_tools`.',
      })
    }
  const order: string[] = []
  const left = new Set([...byId.keys()].filter((id) => !problems.has(id)))
  // Ends: cycles are not among them.
  while (left.size > 0) {
    const ready = [...left].filter((id) => neededBy(id).every((each) => !left.has(each)))
    order.push(...ready)
    for (const id of ready) left.delete(id)
  }
  return { order, problems }
}
