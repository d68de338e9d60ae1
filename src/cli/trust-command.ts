import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  dialectFolders,
  type FileState,
  findAgentPaths,
  readTrust,
  revokeTrust,
  statesOf,
  type TrustPlace,
  type TrustRecord,
  trustFiles,
  trustOf,
} from '../agents/index.ts'
import type { TrustInvocation } from './agents-invocations.ts'
import { loadProject } from './agents-project.ts'
import { trustPlaceOf } from './config-setup.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { printable } from './paint.ts'
import { safeJson } from './safe-json.ts'
import { tellNotice } from './tell.ts'

/** `troupe trust`: a person's word that files may count in full, as they are now. */
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

async function trust({ paths, configFile, ...asked }: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const files = paths.length > 0 ? await statesOf(place.files, paths.flatMap(filesAt)) : await waiting(host, configFile)
  if (files.length > 0) await trustFiles(place, files, { by: 'command', at: host.now() })
  return report(files, { host, asked, done: 'Trusted', otherwise: 'Nothing here waits for trust.' })
}

async function revoke({ paths, ...asked }: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const gone = await revokeTrust(place, paths.length > 0 ? paths.map((path) => real(path)) : [process.cwd()])
  return report(gone, { host, asked, done: 'No longer trusted', otherwise: 'Nothing of this was trusted.' })
}

async function listTrust({ output, wishes }: TrustInvocation, host: Host, place: TrustPlace): Promise<number> {
  const records = await readTrust(place)
  const rows = await Promise.all([...records.values()].map(async (record) => ({ ...record, status: await statusOf(record, place) })))
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, files: rows, exitCode: code }))
  else if (rows.length > 0)
    await host.stdout.lines(
      rows.map(({ path, by, at, status }) => `${status}  ${printable(path)}  by ${by} on ${new Date(at).toISOString().slice(0, 10)}`),
    )
  else await tellNotice('Nothing is trusted yet.', { host, wishes })
  return code
}

async function statusOf(record: TrustRecord, { files }: TrustPlace): Promise<'trusted' | 'changed' | 'gone'> {
  if (!existsSync(record.path)) return 'gone'
  const [state] = await statesOf(files, [record.path])
  return state && trustOf(state, new Map([[record.path, record]])) === 'trusted' ? 'trusted' : 'changed'
}

/** Whatever of this folder counts only in part for want of trust. */
async function waiting(host: Host, configFile: string | undefined): Promise<readonly FileState[]> {
  const { setup, registry } = await loadProject(host, configFile === undefined ? {} : { configFile })
  return [...setup.config.pending, ...registry.untrusted].map(({ path, sha256 }) => ({ path, sha256 }))
}

const configNames = ['.ai-agent.json', '.mcp.json', '.ai-agent.env']

/** Of a folder, what trust is about. */
function filesAt(written: string): readonly string[] {
  const path = real(written)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const own = configNames.map((name) => join(path, name)).filter((each) => existsSync(each))
  const foreign = dialectFolders.map((each) => join(path, each)).filter((each) => existsSync(each))
  return [...own, ...foreign.flatMap((each) => findAgentPaths(each).paths)]
}

/** Agents are known by their real path; what is no longer there by the one that was written. */
function real(written: string): string {
  const path = resolve(written)
  return existsSync(path) ? realpathSync(path) : path
}

interface Reporting {
  readonly host: Host
  readonly asked: Pick<TrustInvocation, 'output' | 'wishes'>
  readonly done: string
  readonly otherwise: string
}

async function report(files: readonly FileState[], { host, asked, done, otherwise }: Reporting): Promise<number> {
  const { output, wishes } = asked
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, files: files.map(({ path }) => path), exitCode: code }))
  else if (files.length > 0) await host.stdout.lines(files.map(({ path }) => `${done}: ${printable(path)}`))
  else await tellNotice(otherwise, { host, wishes })
  return code
}
