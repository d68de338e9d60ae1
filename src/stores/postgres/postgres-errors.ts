import { TroupeError } from '../../contracts/index.ts'
import { errorCode } from '../../util/error-code.ts'

/** The connection is lost or cannot be made: what was asked may succeed on another one. */
const lost = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOENT',
  'EAI_AGAIN',
  // Ended by an administrator, by a crash, or because it was idle in a transaction.
  '57P01',
  '57P02',
  '57P05',
  '25P03',
  // Starting, stopping, or full.
  '57P03',
  '53300',
])
/** Two transactions were in each other's way. One of them was rolled back. */
const conflicts = new Set(['40001', '40P01'])

/** `pg` has no code for these. */
const lostMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered|timeout expired)/

export function isConnectionLoss(error: unknown): boolean {
  const code = errorCode(error)
  if (code !== undefined) return lost.has(code) || code.startsWith('08')
  if (error instanceof AggregateError) return error.errors.every(isConnectionLoss)
  return error instanceof Error && lostMessages.test(error.message)
}

/** Nothing was done, or what was done is recognised when it is repeated. */
export const isTransient = (error: unknown): boolean => isConnectionLoss(error) || conflicts.has(errorCode(error) ?? '')

/** The server starts, stops, or has no connection left. */
export const isServerBusy = (error: unknown): boolean => ['57P03', '53300'].includes(errorCode(error) ?? '')

/** Another row has the value of a unique column. */
export const isDuplicate = (error: unknown): boolean => errorCode(error) === '23505'

const network = 'Check that the server runs, and the host and port of the store URL.'
const tls = 'Check sslmode and sslrootcert of the store URL, and the certificate of the server.'

const remedies: { readonly [code: string]: string } = {
  ECONNREFUSED: network,
  ENOTFOUND: network,
  EAI_AGAIN: network,
  ENOENT: network,
  ETIMEDOUT: network,
  EHOSTUNREACH: network,
  ENETUNREACH: network,
  '28P01': 'Check the user and the password of the store URL.',
  '28000': 'Check the user of the store URL, and pg_hba.conf of the server.',
  '3D000': 'Create the database, or correct its name in the store URL.',
  '42501': 'Grant the user CREATE on the database, or make it the owner of the schema troupe.',
  '25006': 'The server only reads: use the primary server in the store URL.',
  '53100': 'Free some space on the disk of the database, then try again.',
  '53200': 'The server has no memory left: free some, then try again.',
  '53300': 'Raise max_connections of the server, or use fewer connections: `store.pool`.',
  '42P01': 'Run `troupe store migrate`.',
  '3F000': 'Run `troupe store migrate`.',
  '54000': 'Use shorter keys, ids and names.',
  XX001: 'The database is damaged: restore it from a backup.',
  XX002: 'An index of the database is damaged: run REINDEX SCHEMA troupe.',
  DEPTH_ZERO_SELF_SIGNED_CERT: tls,
  SELF_SIGNED_CERT_IN_CHAIN: tls,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: tls,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: tls,
  CERT_HAS_EXPIRED: tls,
  ERR_TLS_CERT_ALTNAME_INVALID: tls,
}

/** `place`: the database without its password. */
export function databaseError(error: unknown, place: string): TroupeError {
  if (error instanceof TroupeError) return error
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = errorCode(first) ?? ''
  const message = first instanceof Error ? first.message : String(first)
  const isTls = /SSL|TLS/i.test(message)
  const remedy = remedies[code] ?? (isTls ? tls : 'Check the server and its log, then try again.')
  return new TroupeError('store_failed', `Cannot use the store ${place}: ${message.replace(/\.$/, '')}.`, { remedy, cause: error })
}
