import type { ExtensionStatus, Tool } from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'

export const listExtensionsName = 'list_extensions'

/** Lets the orchestrator explain what does not work. */
export const listExtensionsTool = (list: () => readonly ExtensionStatus[]): Tool => ({
  name: listExtensionsName,
  description: 'List all extensions with their state, capabilities, problems and remedies.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  effect: 'read',
  concurrency: 'shared',
  repeatable: true,
  execute: () => list().map(describe).join('\n') || 'There are no extensions.',
})

function describe({ id, state, source, capabilities, description, health, problems }: ExtensionStatus): string {
  const facts = [
    state,
    source,
    ...capabilities,
    ...(health?.healthy === false ? [`not healthy: ${health.message ?? 'no reason given'}`] : []),
  ]
  const lines = problems.map(({ place, message, remedy }) => `  ${place}: ${message}${remedy === undefined ? '' : ` (${remedy})`}`)
  return [`- ${id} (${facts.join(', ')}): ${oneLine(description)}`, ...lines].join('\n')
}
