import { relative } from 'node:path'
import { TroupeError } from '../../../contracts/index.ts'
import {
  changeExtensionSettings,
  createExtension,
  type InspectedExtension,
  inspectExtensions,
  partsOf,
  permitExtension,
  projectRecords,
  type TemplateKind,
  templateKinds,
  trustExtension,
  untrustedText,
  withheldOf,
} from '../../../kernel/index.ts'
import { clearQuarantine, requestReload } from '../../../kernel/supervisor/index.ts'
import { projectExtensions, sessionPlace, trustPlaceOf, withStore } from '../../../project/index.ts'
import { asSentence } from '../../../util/as-sentence.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import { oneLine } from '../../../util/one-line.ts'
import { plural } from '../../../util/plural.ts'
import type { ExtensionsInvocation } from '../../arguments/kernel-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { auditAction } from '../audit/audit-action.ts'
import { extensionDocument, extensionLines, workNotice } from './show-extension.ts'
import { supervisorPlace } from './supervisor-place.ts'
import { validateExtensions } from './validate-extensions.ts'

/** `troupe extensions`. Settings apply from the next start of `troupe up` or `troupe serve`. */
export async function extensionsCommand(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const { action } = invocation
  checkWords(invocation)
  switch (action) {
    case 'list':
      return list(invocation, host)
    case 'show':
      return show(invocation, host)
    case 'validate':
      return validate(invocation, host)
    case 'new':
      return create(invocation, host)
    case 'trust':
      return trust(invocation, host)
    case 'enable':
    case 'disable':
      return enable(invocation, host)
    case 'setup': {
      const { setupExtension } = await import('./setup-extension.ts')
      const [extension] = await named(invocation, host)
      return extension ? setupExtension(extension, invocation, host) : exitCodes.usage.code
    }
    case 'reload':
      return reload(invocation, host)
    default:
      return action satisfies never
  }
}

function checkWords({ action, ids, template, isSandboxed, set, readsSecrets }: ExtensionsInvocation): void {
  const wrong = (message: string, remedy: string): TroupeError => new TroupeError('usage', message, { remedy })
  const isOne = action === 'show' || action === 'new' || action === 'setup'
  if (action === 'list' && ids.length > 0)
    throw wrong(`The command extensions list takes no id, not "${ids[0]}".`, `Write: troupe extensions show ${ids[0]}`)
  if (action === 'reload' && ids.length > 0)
    throw wrong('The command extensions reload takes no id.', 'It loads all extensions again. Remove the id.')
  if (ids.length === 0 && !['list', 'validate', 'reload'].includes(action))
    throw wrong('The id of the extension is missing.', `Write: troupe extensions ${action} ID`)
  if (isOne && ids.length > 1) throw wrong(`The command extensions ${action} takes one id.`, 'Run it for each of them.')
  if (isSandboxed && action !== 'trust') throw wrong('The flag --sandboxed belongs to extensions trust.', 'Remove it.')
  if ((set.length > 0 || readsSecrets) && action !== 'setup')
    throw wrong('The flags --set and --secrets belong to extensions setup.', 'Remove them.')
  if (template !== undefined && action !== 'new') throw wrong('The flag --kind belongs to extensions new.', 'Remove it.')
}

async function list(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const all = await inspectExtensions(invocation, host)
  if (invocation.output === 'json') await printDocument({ extensions: all.map(extensionDocument) }, host)
  else await host.stdout.lines(columns(all.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  const untrusted = all.flatMap(({ found: { id }, state }) => (state === 'untrusted' ? [id] : []))
  if (untrusted.length > 0 && invocation.output === 'answer')
    await printNotice(untrustedText(untrusted), { host, display: invocation.display })
  return exitCodes.done.code
}

function rowOf(extension: InspectedExtension): Row {
  const { found, state, runs, problems, quarantined } = extension
  const { id, source, manifest } = found
  const [withheld] = withheldOf(id, problems)
  const facts = [
    quarantined ? `${state}, because ${quarantined.reason}` : state,
    ...(manifest ? [partsOf(manifest).join(' + ')] : []),
    ...(source === 'bundled' ? [] : [source]),
    ...(runs === 'sandbox' ? ['not trusted: runs in the sandbox'] : []),
    ...(withheld ? [`${asSentence(withheld.message)} ${withheld.remedy}`] : workNotice(extension)),
    ...(problems.length > 0 ? [plural(problems.length, 'problem')] : []),
  ]
  return [printable(id), printable(`${facts.join(' · ')}${manifest ? ` · ${oneLine(manifest.description)}` : ''}`)]
}

/** Without ids: all but those of Troupe. */
async function validate(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const extensions = (await named(invocation, host)).filter(({ found }) => invocation.ids.length > 0 || found.source !== 'bundled')
  if (extensions.length === 0 && invocation.output === 'answer')
    await printNotice('No extensions in extensions/. Create one: troupe extensions new ID', { host, display: invocation.display })
  return validateExtensions(extensions, invocation, host)
}

async function show(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const [extension] = await named(invocation, host)
  if (!extension) return exitCodes.usage.code
  if (invocation.output === 'json') await printDocument(extensionDocument(extension), host)
  else await host.stdout.prose(extensionLines(extension))
  return exitCodes.done.code
}

/** A new extension is trusted, like everything that `init` creates. */
async function create({ ids: [id = ''], template, output, display }: ExtensionsInvocation, host: Host): Promise<number> {
  const kind = templateKinds.find((each) => each === (template ?? 'tool'))
  if (kind === undefined)
    throw new TroupeError('usage', `There is no template "${template}".`, { remedy: knownNames(template ?? '', templateKinds, 'template') })
  const workspace = process.cwd()
  const files = await createExtension({ kind: kind satisfies TemplateKind, id, place: projectExtensions(workspace) })
  const [created] = (await inspectExtensions({}, host)).filter(({ found }) => found.id === id)
  if (created) await trustExtension(trustPlaceOf(host).store, created.found, { by: 'init', at: host.now() })
  const paths = files.map((file) => relative(workspace, file))
  if (output === 'json') await printDocument({ id, files: paths }, host)
  else {
    await host.stdout.lines(paths.map((path) => `Created: ${printable(path)}`))
    const next = `Edit it, check it with: troupe extensions validate ${id}. Then trust it again: troupe extensions trust ${id}`
    await printNotice(next, { host, display })
  }
  return exitCodes.done.code
}

async function trust(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  // Also those that a trusted one with the same id keeps out.
  const extensions = await named(invocation, host, 'everything')
  const broken = extensions.find(({ found }) => !found.manifest)
  if (broken) throw invalid(broken)
  const { store } = trustPlaceOf(host)
  const give = invocation.isSandboxed ? permitExtension : trustExtension
  for (const { found } of extensions) if (found.source === 'project') await give(store, found, { by: 'command', at: host.now() })
  if (invocation.output === 'json') await printDocument({ trusted: extensions.map(({ found }) => found.id) }, host)
  else
    for (const { found } of extensions) {
      const text =
        found.source === 'project'
          ? invocation.isSandboxed
            ? `${found.id} gets the permissions and the tools of its manifest in its current form, and may give the assistant tasks and messages of its channel, from the next start or reload. It stays in the sandbox.`
            : `Trusted: ${found.id} in its current form. It runs inside the kernel with all your permissions from the next start or reload.`
          : `${found.id} is ${found.source === 'bundled' ? 'part of Troupe' : 'in your own folder'}, and always trusted.`
      await printNotice(text, { host, display: invocation.display })
    }
  return exitCodes.done.code
}

const invalid = ({ found, problems }: InspectedExtension): TroupeError =>
  new TroupeError('config_invalid', `The extension "${found.id}" is invalid.`, { problems })

async function enable(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const enabled = invocation.action === 'enable'
  const extensions = await named(invocation, host)
  const workspace = process.cwd()
  await withStore(await sessionPlace(invocation, host), async (store) => {
    for (const { found } of extensions) {
      await changeExtensionSettings(projectRecords(store.records, workspace), found.id, { enabled })
      await auditAction(store, { action: `extension.${invocation.action}`, extension: found.id })
    }
  })
  const place = supervisorPlace(invocation.dataDir, host)
  const released = enabled ? extensions.filter(({ found }) => clearQuarantine(place, found.id)) : []
  if (invocation.output === 'json') await printDocument({ enabled, extensions: extensions.map(({ found }) => found.id) }, host)
  else
    for (const extension of extensions) {
      const { id } = extension.found
      const why = released.includes(extension) ? ' and no longer quarantined' : ''
      const text = `${id} is ${enabled ? 'enabled' : 'disabled'}${why}. This applies from the next start or reload.`
      await printNotice(text, { host, display: invocation.display })
    }
  return exitCodes.done.code
}

/** The kernel is another process: its supervisor restarts it. */
async function reload(invocation: ExtensionsInvocation, host: Host): Promise<number> {
  const isReady = await requestReload(supervisorPlace(invocation.dataDir, host))
  if (isReady === undefined)
    throw new TroupeError('usage', 'No `troupe up` runs in this folder.', {
      remedy: 'Start it: troupe up. A `troupe serve` loads extensions at its start: restart it.',
    })
  if (!isReady) throw new TroupeError('extension_failed', 'The assistant has not started again.', { remedy: 'See its output.' })
  const extensions = (await inspectExtensions(invocation, host)).filter(({ found }) => found.source !== 'bundled')
  if (invocation.output === 'json') await printDocument({ extensions: extensions.map(extensionDocument) }, host)
  else {
    await host.stdout.lines(columns(extensions.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
    await printNotice('The assistant has loaded its extensions again.', { host, display: invocation.display })
  }
  return exitCodes.done.code
}

/** Those that the command names, or all of them. */
async function named(invocation: ExtensionsInvocation, host: Host, trusted?: 'everything'): Promise<readonly InspectedExtension[]> {
  const all = await inspectExtensions({ ...invocation, trusted }, host)
  if (invocation.ids.length === 0) return all
  return invocation.ids.map((id) => {
    const extension = all.find(({ found }) => found.id === id)
    if (extension) return extension
    const ids = all.map(({ found }) => found.id)
    throw new TroupeError('usage', `There is no extension "${id}" here.`, { remedy: knownNames(id, ids, 'extension') })
  })
}
