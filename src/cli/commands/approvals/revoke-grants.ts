import { TroupeError } from '../../../contracts/index.ts'
import { type GrantRecord, type UserGrants, userGrants } from '../../../project/index.ts'
import { findProjectRoot } from '../../../tools/project-context/index.ts'
import { nearestNames } from '../../../util/nearest-names.ts'
import type { ApprovalsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'

/** `troupe approvals revoke`: removes grants of this project. */
export async function revokeGrants({ output, display, named: keys, isAll }: ApprovalsInvocation, host: Host): Promise<number> {
  if (isAll === keys.length > 0)
    throw new TroupeError('usage', isAll ? '--all takes no keys.' : 'The key is missing.', {
      remedy: 'To list the keys: troupe approvals list. To revoke all grants of this project: troupe approvals revoke --all',
    })
  const project = findProjectRoot(process.cwd())
  const grants = userGrants(host)
  const gone = await revoke(grants, { project, keys, isAll }).finally(() => grants.close())
  // A key may have been granted in several folders.
  const revoked = [...new Set(gone.map(({ key }) => key))]
  if (output === 'json') await printDocument({ project, revoked }, host)
  else if (revoked.length > 0) await host.stdout.lines(revoked.map((key) => `Revoked: ${printable(key)}`))
  else await printNotice('No grants are stored for this project.', { host, display })
  return exitCodes.done.code
}

interface Revoked {
  readonly project: string
  readonly keys: readonly string[]
  readonly isAll: boolean
}

async function revoke(grants: UserGrants, { project, keys, isAll }: Revoked): Promise<readonly GrantRecord[]> {
  const here = await grants.list(project)
  refuseUnknown(keys, here)
  const gone = here.filter(({ key }) => isAll || keys.includes(key))
  if (gone.length > 0) await grants.remove(gone)
  return gone
}

function refuseUnknown(keys: readonly string[], here: readonly GrantRecord[]): void {
  const known = [...new Set(here.map(({ key }) => key))]
  const unknown = keys.filter((key) => !known.includes(key))
  if (unknown.length === 0) return
  const near = unknown.flatMap((key) => nearestNames(key, known).slice(0, 1))
  throw new TroupeError('usage', `Not granted for this project: ${unknown.join(', ')}.`, {
    remedy: near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'To list the grants: troupe approvals list',
  })
}
