import { githubSignature, type IncomingWebhook, isSameSecret, standardSignature } from '../../project/index.ts'
import { HttpError } from '../http/index.ts'

/** Older and newer requests are refused: somebody may have recorded them. */
const toleranceSeconds = 300

/** Refuses a request without the token, before its body is read. */
export function requireToken(headers: Headers, { credential }: IncomingWebhook): void {
  if (credential.kind !== 'token') return
  const { header, token } = credential
  const given = header === undefined ? bearerOf(headers) : (headers.get(header) ?? '')
  if (isSameSecret(given, token)) return
  const where = header === undefined ? 'as "Authorization: Bearer TOKEN"' : `in the header ${header}`
  throw new HttpError('unauthorized', 'The token is missing or wrong.', { remedy: `Send it ${where}.` })
}

const bearerOf = (headers: Headers): string => /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''

interface Received {
  readonly headers: Headers
  readonly body: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Refuses a request whose body is not signed with the secret. */
export function requireSignature({ credential }: IncomingWebhook, { headers, body, now }: Received): void {
  switch (credential.kind) {
    case 'token':
      return
    case 'github':
      if (isSameSecret(headers.get('x-hub-signature-256') ?? '', githubSignature(credential.secret, body))) return
      throw wrongSignature('X-Hub-Signature-256')
    case 'standard': {
      const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map(
        (name) => headers.get(`webhook-${name}`) ?? '',
      )
      const expected = standardSignature(credential.secret, { id, timestamp, body })
      // Senders that change their secret sign with both.
      const isSigned = signatures
        .split(' ')
        .slice(0, 10)
        .map((each) => isSameSecret(each, expected))
        .includes(true)
      if (id === '' || !isSigned) throw wrongSignature('webhook-id, webhook-timestamp and webhook-signature')
      if (/^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds) return
      throw new HttpError(
        'unauthorized',
        `The request was signed more than ${toleranceSeconds / 60} minutes ago, or by a clock that is wrong.`,
        {
          remedy: 'Sign each attempt with the current time, and check both clocks.',
        },
      )
    }
    default:
      credential satisfies never
  }
}

const wrongSignature = (headers: string): HttpError =>
  new HttpError('unauthorized', 'The signature is missing or wrong.', {
    remedy: `Sign the body with the secret of this webhook: ${headers}.`,
  })
