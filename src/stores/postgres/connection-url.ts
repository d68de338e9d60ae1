import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { TroupeError } from '../../contracts/index.ts'
import { withoutCredentials } from '../../util/without-credentials.ts'

/** A part of the settings of `pg`. Its types are not installed with it. */
interface ClientSettings {
  readonly host?: string
  readonly port?: number
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly ssl: ConnectionOptions | false
  readonly application_name: string
}

/** How a client connects, and what people may see of it. */
export interface Connection {
  readonly config: ClientSettings
  /** Without user, password and parameters. */
  readonly place: string
}

const parameters = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name'] as const
const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/**
 * Reads a URL as other programs for PostgreSQL do. `sslmode` has the meaning that it has there; the default is `disable`.
 *
 * @throws TroupeError `config_invalid`. No message contains the URL: it may have a password.
 */
export function connectionOf(url: string): Connection {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^postgres(?:ql)?:$/.test(parsed.protocol))
    throw invalid('The URL of the store is not valid.', 'Use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX.')
  const given = parsed.searchParams
  for (const name of given.keys())
    if (!parameters.some((known) => known === name))
      throw invalid(`The URL of the store has an unknown parameter \`${name}\`.`, `Known parameters: ${parameters.join(', ')}.`)
  const host = given.get('host') ?? decode(parsed.hostname).replace(/^\[(.*)\]$/, '$1')
  const database = decode(parsed.pathname.slice(1))
  const ssl = tlsOf(given)
  return {
    config: {
      ...(host !== '' && { host }),
      ...(parsed.port !== '' && { port: Number(parsed.port) }),
      ...(parsed.username !== '' && { user: decode(parsed.username) }),
      ...(parsed.password !== '' && { password: decode(parsed.password) }),
      ...(database !== '' && { database }),
      ssl: ssl ?? false,
      application_name: given.get('application_name') ?? 'troupe',
    },
    place: withoutCredentials(url),
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalid('The URL of the store has a % that is not followed by two digits.', 'Write a % in a password as %25.')
  }
}

function tlsOf(given: URLSearchParams): ConnectionOptions | undefined {
  const mode = given.get('sslmode') ?? 'disable'
  if (!isMode(mode)) throw invalid(`The URL of the store has an unknown sslmode \`${mode}\`.`, `Use one of ${modes.join(', ')}.`)
  if (mode === 'disable') return undefined
  const file = (name: (typeof parameters)[number]): string | undefined => {
    const path = given.get(name)
    return path === null ? undefined : readCertificate(name, path)
  }
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    rejectUnauthorized: mode !== 'require' || ca !== undefined,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

const isMode = (mode: string): mode is Mode => modes.some((known) => known === mode)

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TroupeError('config_invalid', `The file of \`${name}\` in the URL of the store cannot be read: ${path}.`, {
      remedy: 'Check the path and its permissions.',
      cause,
    })
  }
}

const invalid = (message: string, remedy: string): TroupeError => new TroupeError('config_invalid', message, { remedy })
