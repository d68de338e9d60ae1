import type { JsonObject } from '../../../contracts/index.ts'
import { type InspectedExtension, partsOf, permitRemedy, workPermissions } from '../../../kernel/index.ts'
import { redactSettings } from '../../../project/index.ts'
import { asSentence, displaySentence } from '../../../util/as-sentence.ts'
import { oneLine } from '../../../util/one-line.ts'
import { printable } from '../../terminal/printable.ts'

/** What its code does not get without permission, if it asks for it. */
export const workNotice = ({ found, runs }: InspectedExtension): readonly string[] =>
  runs !== 'sandbox' || found.permitted ? [] : [`without ${Object.values(workPermissions).join(' and ')}. ${permitRemedy(found.id)}`]

/** One extension as JSON. */
export function extensionDocument(extension: InspectedExtension): object {
  const { found, state, runs, problems, quarantined } = extension
  const { id, source, folder, trusted, permitted, manifest } = found
  return {
    id,
    ...(manifest && { name: manifest.name, version: manifest.version, description: manifest.description }),
    ...{ state, source, folder, hash: found.hash, trusted, permitted, runs },
    ...(manifest && {
      dependsOn: manifest.dependsOn,
      visibility: manifest.visibility,
      permissions: manifest.permissions,
      secrets: manifest.secrets,
      schedules: manifest.schedules,
      events: manifest.events,
      config: effectiveConfig(extension),
      ...(manifest.agent && { agent: withoutInstructions(manifest.agent as unknown as JsonObject) }),
    }),
    ...(quarantined && { quarantined }),
    problems,
  }
}

/** As it is written: with placeholders, without secrets. */
const effectiveConfig = ({ found, settings }: InspectedExtension): JsonObject =>
  redactSettings({ ...found.manifest?.config, ...settings.config, ...found.configured?.written }, ['extensions', found.id]) as JsonObject

const withoutInstructions = ({ instructions: _, ...agent }: JsonObject): JsonObject => agent

/** One extension for a person. */
export function extensionLines(extension: InspectedExtension): readonly string[] {
  const { found, state, runs, problems, quarantined } = extension
  const { id, source, folder, trusted, manifest } = found
  const line = (name: string, value: string): readonly string[] => (value === '' ? [] : [`${name.padEnd(13)} ${printable(value)}`])
  const list = (values: readonly string[]): string => values.join(', ')
  const places = { kernel: 'inside the kernel', sandbox: 'in a sandboxed process, because it is not trusted', nowhere: '' }
  const lines = [
    `${printable(manifest?.name ?? id)}${manifest ? ` ${printable(manifest.version)}` : ''}`,
    ...line('id', id),
    ...line('description', oneLine(manifest?.description ?? '')),
    ...line('state', state),
    ...line('folder', `${folder} (${source}${trusted ? ', trusted' : ', not trusted'})`),
    ...line(
      'runs',
      [manifest?.entrypoint || runs === 'nowhere' ? places[runs] : 'inside the kernel, without code', ...workNotice(extension)].join(', '),
    ),
  ]
  if (manifest) {
    const { permissions, agent } = manifest
    lines.push(
      ...line('parts', list(partsOf(manifest))),
      ...line('depends on', list(manifest.dependsOn)),
      ...line('visibility', manifest.visibility),
      ...line('hosts', list(permissions.hosts)),
      ...line('reads', list(permissions.read)),
      ...line('writes', list(permissions.write)),
      ...line('secrets', list(manifest.secrets)),
      ...line('config', configText(effectiveConfig(extension))),
      ...manifest.schedules.flatMap(({ cron, timeZone, task }) => line('schedule', `${cron}${timeZone ? ` ${timeZone}` : ''}: ${task}`)),
      ...line('events', list(manifest.events)),
    )
    if (agent)
      lines.push(
        ...line('model', agent.model),
        ...line('uses tools', list(agent.usesTools)),
        ...line(
          'limits',
          `${agent.limits.maxTurns} turns, ${agent.limits.maxTokensPerInvocation} tokens, ${agent.limits.timeBudgetMs / 1000} s for each call`,
        ),
      )
  }
  if (quarantined)
    lines.push('', `Quarantined: ${printable(asSentence(quarantined.reason))} Fix it, then run: troupe extensions enable ${id}`)
  if (problems.length > 0) lines.push('', ...problems.flatMap(problemLines))
  return lines
}

const configText = (config: JsonObject): string => (Object.keys(config).length === 0 ? '' : JSON.stringify(config))

/** A problem with its remedy. */
export const problemLines = ({ place, message, remedy }: InspectedExtension['problems'][number]): readonly string[] => [
  `${printable(place)}: ${printable(displaySentence(message))}`,
  ...(remedy === undefined ? [] : [`  → ${printable(remedy)}`]),
]
