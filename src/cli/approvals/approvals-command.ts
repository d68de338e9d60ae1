import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findProjectRoot, storePathOf } from '../../agents/index.ts'
import { TroupeError } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ApprovalsInvocation } from '../agents-invocations.ts'
import { loadSetup, setupWithoutConfig } from '../config-setup.ts'
import { dataFolder } from '../data-folder.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { printable } from '../paint.ts'
import { safeJson } from '../safe-json.ts'
import { tellNotice } from '../tell.ts'
import type { GrantRecord } from './grant-records.ts'
import { changeGrants, grantPlaceOf, readGrants } from './project-grants.ts'
import { type WaitingRequest, waitingRequests } from './waiting-requests.ts'

/** `troupe approvals`: what was approved beyond a session, and what waits for an answer. */
export function approvalsCommand(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  return invocation.action === 'list' ? list(invocation, host) : revoke(invocation, host)
}

async function list({ output, wishes, isEverywhere, dataDir }: ApprovalsInvocation, host: Host): Promise<number> {
  const project = findProjectRoot(process.cwd())
  const grants = readGrants(grantPlaceOf(host)).filter((record) => isEverywhere || record.project === project)
  const waiting = await waitingIn(dataFolder({ flag: dataDir ?? (await configuredFolder(host)), env: host.env, home: homedir() }))
  const { code } = exitCodes.done
  if (output === 'json') {
    await host.stdout.line(safeJson({ ok: true, project, grants, waiting: waiting.map(plain), exitCode: code }))
    return code
  }
  const { paint, stdout } = host
  await stdout.lines([
    ...grants.map(
      ({ key, label, project: where, by, at }) =>
        `${printable(key)}  ${paint('dim', printable(`${label} · ${isEverywhere ? `${where} · ` : ''}by ${by} on ${new Date(at).toISOString().slice(0, 10)}`))}`,
    ),
    ...waiting.map(({ run, request }) => `${paint('yellow', '?')} ${run.treeId}  ${printable(`${run.agent}: ${request.summary}`)}`),
  ])
  if (grants.length === 0)
    await tellNotice(`Nothing is approved for ${isEverywhere ? 'any project' : project} beyond a session.`, { host, wishes })
  const there = dataDir === undefined ? '' : ` --data-dir ${shellWord(dataDir)}`
  if (waiting.length > 0) await tellNotice(`Answer with: troupe run FILE --resume ID${there}`, { host, wishes })
  return code
}

const plain = ({ run, request }: WaitingRequest) => ({ runId: run.treeId, agent: run.agent, title: run.title, request })

/** Where runs of this folder are kept; a configuration that is wrong says nothing. */
async function configuredFolder(host: Host): Promise<string | undefined> {
  const { config, environment } = await loadSetup(host).catch(() => setupWithoutConfig(host))
  return storePathOf({ config, environment })
}

/** Runs that are suspended, with what they wait for. A folder without journals has none. */
async function waitingIn(folder: string): Promise<readonly WaitingRequest[]> {
  if (!existsSync(join(folder, 'troupe.db'))) return []
  const { sqliteStore } = await import('../../stores/sqlite/index.ts')
  const store = sqliteStore({ path: folder })
  try {
    return await waitingRequests(store)
  } finally {
    await store.close()
  }
}

async function revoke({ output, wishes, keys, isAll }: ApprovalsInvocation, host: Host): Promise<number> {
  if (isAll === keys.length > 0)
    throw new TroupeError('usage', isAll ? 'Keys are named beside --all.' : 'No key is named.', {
      remedy: 'Name the keys that approvals list shows, or take back all of this project: troupe approvals revoke --all',
    })
  const project = findProjectRoot(process.cwd())
  const place = grantPlaceOf(host)
  const here = readGrants(place).filter((record) => record.project === project)
  refuseUnknown(keys, here)
  const gone = here.filter(({ key }) => isAll || keys.includes(key))
  await changeGrants(place, (records) =>
    records.filter((record) => record.project !== project || !gone.some(({ key }) => key === record.key)),
  )
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, project, revoked: gone.map(({ key }) => key), exitCode: code }))
  else if (gone.length > 0) await host.stdout.lines(gone.map(({ key }) => `No longer approved: ${printable(key)}`))
  else await tellNotice('Nothing was approved for this project.', { host, wishes })
  return code
}

function refuseUnknown(keys: readonly string[], here: readonly GrantRecord[]): void {
  const known = here.map(({ key }) => key)
  const problems = keys
    .filter((key) => !known.includes(key))
    .map((key) => {
      const [near] = nearestNames(key, known)
      return { place: key, message: 'it is not approved for this project', ...(near !== undefined && { remedy: `Did you mean ${near}?` }) }
    })
  if (problems.length > 0)
    throw new TroupeError('usage', 'Not everything that is to be taken back was approved.', {
      problems,
      remedy: known.length > 0 ? `Approved are: ${known.join(', ')}.` : 'Nothing is approved for this project.',
    })
}
