import { automaticTools, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { nearby } from '../words.ts'
import { settingsOf } from './config.ts'
import type { ConfigDiagnostic } from './diagnostic.ts'
import { variablesOf } from './overlay.ts'
import type { VariableSources } from './resolve.ts'
import { keysOf, sourcedAt } from './sourced.ts'

/** What all children are together, beside their own names. */
const childNamespace = 'agent'
const childPrefix = 'agent__'

/**
 * Queues that nothing bears the name of: a limit that never bites. `providers` are those that there are without being
 * configured, and those that agents name. While providers wait for trust, nobody knows what they are called.
 */
export function idleQueues(sources: VariableSources, providers: readonly string[]): readonly ConfigDiagnostic[] {
  const { config } = sources
  const queues = settingsOf(config, 'queues')
  const isWaiting = config.pending.some(({ withheld }) => withheld.some((name) => name === 'providers' || name.startsWith('variables ')))
  if (!queues || isWaiting) return []
  const variables = variablesOf(sources)
  const bearers = new Set([
    ...providers,
    ...keysOf(settingsOf(config, 'providers')),
    ...builtinToolNames,
    ...Object.keys(automaticTools),
    childNamespace,
  ])
  return keysOf(queues).flatMap((name): readonly ConfigDiagnostic[] => {
    const at = sourcedAt(queues, [name])?.origin
    if (!at || bearers.has(name) || name.startsWith(childPrefix) || addressVariable(name) in variables) return []
    return [
      {
        code: 'config_rule_idle',
        severity: 'warning',
        place: `${at.file}:${at.line}:${at.column}`,
        message: `the queue \`${name}\` has no effect: no provider, tool or namespace has this name`,
        remedy: nearby(name, [...bearers]) ?? 'Name a provider such as `openai`, a tool such as `shell`, or `agent` for all children.',
      },
    ]
  })
}

/** A variable alone may bring a provider. */
const addressVariable = (provider: string): string => `${provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_BASE_URL`
