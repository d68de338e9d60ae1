import { boundsOfLimit, type LimitName, parameterBounds, reasoningEfforts } from '../../contracts/index.ts'
import type { ValueSpec } from '../../project/index.ts'

const text = (example: string): ValueSpec => ({ type: { kind: 'text' }, example })
/** Manifests give numbers without units. */
const limit = (name: LimitName, example: string): ValueSpec => ({ type: boundsOfLimit(name), example })
const choice = (...of: readonly string[]): ValueSpec => ({ type: { kind: 'choice', of }, example: of[0] ?? '' })

/** The keys of a manifest with the types of their values. A dot separates a section from its keys; `#` means the entries of a list. */
export const manifestKeys: { readonly [key: string]: ValueSpec } = {
  id: text('file_manager'),
  name: text('File manager'),
  version: text('"1.0.0"'),
  description: text('Reads and writes files'),
  entrypoint: text('main:FileManager'),
  natural_language_description: text('Use it for files.'),
  depends_on: { type: { kind: 'names', of: 'extension' }, example: '[kv]' },
  visibility: choice('all', 'agents'),
  'permissions.hosts': { type: { kind: 'names', of: 'host' }, example: '[api.example.com]' },
  'permissions.read': { type: { kind: 'names', of: 'folder' }, example: '[docs]' },
  'permissions.write': { type: { kind: 'names', of: 'folder' }, example: '[reports]' },
  config: { type: { kind: 'map' }, example: '{ unit: celsius }' },
  secrets: { type: { kind: 'names', of: 'variable' }, example: '[WEATHER_KEY]' },
  enabled: { type: { kind: 'boolean' }, example: 'false' },
  'schedules.#.id': text('morning'),
  'schedules.#.cron': text('"0 8 * * 1-5"'),
  'schedules.#.time_zone': text('Europe/Berlin'),
  'schedules.#.task': text('Summarize the news'),
  events: { type: { kind: 'names', of: 'event' }, example: '[price_changed]' },
  'agent.integration_mode': choice('tool', 'handoff'),
  'agent.model': text('auto'),
  'agent.instructions': text('prompts/reviewer.jinja2'),
  'agent.parameters.temperature': { type: parameterBounds.temperature, example: '0.2' },
  'agent.parameters.top_p': { type: parameterBounds.topP, example: '0.9' },
  'agent.parameters.max_output_tokens': { type: parameterBounds.maxOutputTokens, example: '4000' },
  'agent.parameters.seed': { type: parameterBounds.seed, example: '7' },
  'agent.parameters.reasoning_effort': choice(...reasoningEfforts),
  'agent.parameters.timeout_ms': limit('llmTimeout', '90000'),
  'agent.uses_tools': { type: { kind: 'names', of: 'extension' }, example: '[kv, file_manager]' },
  'agent.limits.max_turns': limit('maxToolTurns', '10'),
  'agent.limits.max_tokens_per_invocation': limit('maxTokens', '50000'),
  'agent.limits.time_budget_ms': limit('timeBudget', '120000'),
}
