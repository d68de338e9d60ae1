import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { type AnyExtension, type JsonObject, type SetupField, TroupeError } from '../../../contracts/index.ts'
import { changeExtensionSettings, type InspectedExtension, openInKernel, projectRecords } from '../../../kernel/index.ts'
import { withoutSupervisor } from '../../../kernel/supervisor/index.ts'
import { sessionPlace, withStore } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { ExtensionsInvocation } from '../../arguments/kernel-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { discardTyped, type NextLine, nextLine } from '../../terminal/read-line.ts'
import { mayAsk } from '../trust/trust-question.ts'
import { expectedValue, givenValues, parseValue, readSecrets, type SetupValue } from './setup-values.ts'

/**
 * Asks for the settings of an extension at the terminal, or takes those of `--set` and, with `--secrets`, of standard input. The extension
 * checks them, and no model sees the secrets.
 */
export async function setupExtension(
  { found, settings, state }: InspectedExtension,
  invocation: ExtensionsInvocation,
  host: Host,
): Promise<number> {
  const { manifest } = found
  const refuse = (message: string, remedy: string): TroupeError => new TroupeError('usage', message, { remedy })
  if (!manifest?.entrypoint) throw refuse(`"${found.id}" has no code that asks for settings.`, `Edit ${found.folder}/manifest.yaml.`)
  if (!found.trusted)
    throw refuse(`"${found.id}" is not trusted, so its code does not run here.`, `Review it, then: troupe extensions trust ${found.id}`)
  const isScripted = invocation.set.length > 0 || invocation.readsSecrets
  if (!isScripted && !mayAsk(host))
    throw refuse('Setup asks questions, and there is no terminal.', `Write: troupe extensions setup ${found.id} --set NAME=VALUE`)
  const { instance } = await openInKernel(withoutSupervisor)({ ...found, manifest })
  if (!instance.getSetupSchema || !instance.applyConfig)
    throw refuse(`"${found.id}" has nothing to set up.`, `Its settings are \`config\` in ${found.folder}/manifest.yaml.`)
  const fixed = found.configured?.values ?? {}
  const current = { ...manifest.config, ...settings.config, ...fixed }
  const fields = await instance.getSetupSchema()
  const given = { set: invocation.set, secrets: invocation.readsSecrets ? await readSecrets(host) : [] }
  const values = isScripted
    ? givenValues(fields, { ...given, current: { ...current, ...settings.secrets } })
    : await askFields(fields, current, host)
  const isSecret = (name: string): boolean => fields.some((field) => field.name === name && field.type === 'secret')
  const config = Object.fromEntries([...values].filter(([name]) => !isSecret(name)))
  const secrets = Object.fromEntries([...values].flatMap(([name, value]) => (isSecret(name) ? [[name, String(value)] as const] : [])))
  await apply(instance, { ...current, ...config, ...fixed }, found.id)
  await withStore(await sessionPlace(invocation, host), ({ records }) =>
    changeExtensionSettings(projectRecords(records, process.cwd()), found.id, {
      config: { ...settings.config, ...config },
      secrets: { ...settings.secrets, ...secrets },
      enabled: true,
    }),
  )
  const told = await instance.onSetupComplete?.()
  if (typeof told === 'string') await host.stdout.lines(told.trimEnd().split('\n').map(printable))
  const target = { host, display: invocation.display }
  const hidden = Object.keys(config).filter((name) => name in fixed)
  if (hidden.length > 0) await printNotice(`${hidden.join(', ')}: ${found.configured?.place} sets another value, which applies.`, target)
  const news = state === 'disabled' ? 'set up. It was disabled, and is enabled now' : 'set up'
  await printNotice(`${found.id} is ${news}. This applies from the next start or reload.`, target)
  return exitCodes.done.code
}

async function apply(instance: AnyExtension, config: JsonObject, id: string): Promise<void> {
  try {
    await instance.applyConfig?.(config)
  } catch (error) {
    throw new TroupeError('usage', `"${id}" refuses these settings: ${messageOf(error)}`, { remedy: 'Nothing was stored. Run it again.' })
  }
}

async function askFields(
  fields: readonly SetupField[],
  current: { readonly [name: string]: unknown },
  host: Host,
): Promise<ReadonlyMap<string, SetupValue>> {
  const values = new Map<string, SetupValue>()
  for (const field of fields) {
    const value = await askField(field, current[field.name], host)
    if (value !== undefined) values.set(field.name, value)
  }
  return values
}

/** `undefined`: keep what is set. Asks again after a wrong answer. */
async function askField(field: SetupField, current: unknown, host: Host): Promise<SetupValue | undefined> {
  const { label, options, required = false, type } = field
  const before = current ?? field.default
  const hints = [
    ...(options ? [options.join(' | ')] : type === 'boolean' ? ['yes | no'] : []),
    ...(before !== undefined && type !== 'secret' ? [`Enter: ${String(before)}`] : required ? [] : ['Enter: skip']),
  ]
  for (;;) {
    await discardTyped(host.stdin, systemClock)
    const ask = () => host.stderr.write(`${printable(label)}${hints.length > 0 ? ` (${printable(hints.join('; '))})` : ''}: `)
    const answer = type === 'secret' ? await hiddenLine(ask, host) : await ask().then(() => nextLine(host.stdin))
    if (answer.kind !== 'line') throw new TroupeError('usage', 'The setup was left.', { remedy: 'Nothing was stored. Run it again.' })
    const text = answer.text.trim()
    if (text === '' && (before !== undefined || !required)) return current === undefined && type !== 'secret' ? field.default : undefined
    const value = parseValue(text, field)
    if (value !== undefined) return value
    await host.stderr.lines([expectedValue(field)])
  }
}

/** The characters of a secret are not shown, not even those that are typed as soon as the question appears. */
async function hiddenLine(ask: () => Promise<void>, { stdin, stderr }: Host): Promise<NextLine> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true })
  const answered = new Promise<NextLine>((resolve) => {
    lines.once('line', (text) => resolve({ kind: 'line', text }))
    // Also at Ctrl-C and Ctrl-D.
    lines.once('close', () => resolve({ kind: 'end' }))
  })
  try {
    await ask()
    return await answered
  } finally {
    lines.close()
    await stderr.write('\n')
  }
}
