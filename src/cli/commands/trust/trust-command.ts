import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { TroupeError } from '../../../contracts/index.ts'
import {
  dialectFolders,
  type FileState,
  fileOfServers,
  findAgentPaths,
  loadProject,
  loadProjectsAt,
  readFileStates,
  type TrustPlace,
  type TrustRecord,
  trustFiles,
  trustOf,
  trustPlaceOf,
} from '../../../project/index.ts'
import type { TrustInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { placeOf } from '../../terminal/place-of.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { hookFileLines } from './hook-file-lines.ts'
import { askYesNo, mayAsk, partLines, partsOf } from './trust-question.ts'

/** `troupe trust`: trusts files in their current form, lists trusted files, or revokes trust. */
export async function trustCommand(invocation: TrustInvocation, host: Host): Promise<number> {
  const place = trustPlaceOf(host)
  switch (invocation.action) {
    case 'list':
      return listTrust(invocation, host, place)
    case 'revoke':
      return revoke(invocation, host, place)
    case 'trust':
      return trust(invocation, host, place)
    default:
      return invocation.action satisfies never
  }
}

async function trust(invocation: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const { paths, isAll, display } = invocation
  if (isAll && paths.length > 0)
    throw new TroupeError('usage', 'Files cannot be combined with --all.', { remedy: 'Remove one of them; --all trusts everything here.' })
  const files =
    paths.length > 0
      ? [...(await readFileStates(place.files, paths.flatMap(filesAt))), ...(await serversAt(invocation, host))]
      : await waiting(invocation, host)
  if (files === 'refused') {
    await printNotice('Nothing was trusted.', { host, display })
    return exitCodes.done.code
  }
  if (files.length > 0) await trustFiles(place, files, { by: 'command', at: host.now() })
  return report(files, { host, asked: invocation, done: 'Trusted', otherwise: 'No untrusted files here.' })
}

/** The MCP servers of agent files have records of their own. */
async function serversAt({ paths, configFile }: TrustInvocation, host: Host): Promise<readonly FileState[]> {
  const agents = paths.filter((path) => path.endsWith('.ai'))
  if (agents.length === 0) return []
  const projects = await loadProjectsAt(agents, { ...placeOf(host), configFile, importsModules: false })
  const named = new Set(agents.map(real))
  return projects.flatMap(({ registry }) => registry.untrustedServers).filter(({ path }) => named.has(fileOfServers(path) ?? ''))
}

/** The untrusted files here, approved by `--all` or by an answer at the terminal. */
async function waiting({ configFile, isAll }: TrustInvocation, host: Host): Promise<readonly FileState[] | 'refused'> {
  const { untrusted: files, isConfigured, error } = await loadProject({ ...placeOf(host), configFile, importsModules: false })
  // Without the configuration, or the list of trusted files, the untrusted files are unknown.
  if (!isConfigured && error) throw error
  if (files.length === 0 || isAll) return files
  const count = files.length === 1 ? 'One file is not trusted.' : `${files.length} files are not trusted.`
  if (!mayAsk(host))
    throw new TroupeError('usage', `${count} Nothing was trusted, because there is no terminal to ask.`, {
      remedy: 'Review the files. Then trust some: troupe trust PATH ..., or all: troupe trust --all',
      problems: files.map((file) => ({
        place: file.path,
        message: [`Ignored until you trust this ${file.kind}:`, ...partsOf(file)].join('\n'),
      })),
    })
  const { paint, stderr } = host
  await stderr.prose([`${count} What trust would allow:`, ''])
  for (const file of files) {
    const head = `${paint('bold', printable(file.path))} (${file.kind})`
    await stderr.lines([head, ...partLines(file, host, await hookFileLines(file, host))])
  }
  return (await askYesNo(
    `\n${files.length === 1 ? 'Trust it in its current form?' : `Trust all ${files.length} in their current form?`} [y/N] `,
    host,
  ))
    ? files
    : 'refused'
}

async function revoke({ paths, ...asked }: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const gone = await place.store.remove(paths.length > 0 ? paths.map((path) => real(path)) : [process.cwd()])
  return report(gone, { host, asked, done: 'No longer trusted', otherwise: 'None of these files was trusted.' })
}

async function listTrust({ output, display }: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const records = await place.store.list()
  const rows = await Promise.all([...records.values()].map(async (record) => ({ ...record, status: await statusOf(record, place) })))
  if (output === 'json') await printDocument({ files: rows }, host)
  else if (rows.length > 0)
    await host.stdout.lines(
      rows.map(
        ({ path, by, at, status }) => `${status}  ${printable(path)}  ${trustedBy[by]} on ${new Date(at).toISOString().slice(0, 10)}`,
      ),
    )
  else await printNotice('No trusted files.', { host, display })
  return exitCodes.done.code
}

const trustedBy: { readonly [By in TrustRecord['by']]: string } = {
  person: 'trusted at the terminal',
  command: 'trusted with troupe trust or --trust',
  init: 'trusted by troupe init',
}

async function statusOf(record: TrustRecord, { files }: TrustPlace): Promise<'trusted' | 'changed' | 'gone'> {
  const agent = fileOfServers(record.path)
  if (!existsSync(agent ?? record.path)) return 'gone'
  // A run reports whether the servers of the file have changed.
  if (agent !== undefined) return 'trusted'
  const [state] = await readFileStates(files, [record.path])
  return state && trustOf(state, new Map([[record.path, record]])) === 'trusted' ? 'trusted' : 'changed'
}

const configNames = ['.ai-agent.json', '.mcp.json', '.ai-agent.env']

/** The file itself, or the files of a folder that need trust. */
function filesAt(written: string): readonly string[] {
  const path = real(written)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const own = configNames.map((name) => join(path, name)).filter((each) => existsSync(each))
  const foreign = dialectFolders.map((each) => join(path, each)).filter((each) => existsSync(each))
  return [...own, ...foreign.flatMap((each) => findAgentPaths(each).paths)]
}

/** Agents are recorded by their real path; a missing file has only the path as written. */
function real(written: string): string {
  const path = resolve(written)
  return existsSync(path) ? realpathSync(path) : path
}

interface Reporting {
  readonly host: Host
  readonly asked: Pick<TrustInvocation, 'output' | 'display'>
  readonly done: string
  readonly otherwise: string
}

async function report(files: readonly FileState[], { host, asked, done, otherwise }: Reporting): Promise<number> {
  const { output, display } = asked
  if (output === 'json') await printDocument({ files: files.map(({ path }) => path) }, host)
  else if (files.length > 0) await host.stdout.lines(files.map(({ path }) => `${done}: ${printable(path)}`))
  else await printNotice(otherwise, { host, display })
  return exitCodes.done.code
}
